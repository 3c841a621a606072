// SPDX-License-Identifier: BSD-3-Clause
// Request classes: a struct as a Python class whose constructor takes the fields as keyword arguments.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace convene::binding {

template <class T>
class RequestClass {
 public:
  RequestClass(nanobind::module_& module, const char* name, const char* documentation)
      : class_(module, name, documentation) {}

  template <class Field>
  RequestClass& field(const char* name, Field T::*member) {
    class_.def_rw(name, member);
    setters_->emplace(name, [name, member](T& request, nanobind::handle value) {
      if (!nanobind::try_cast<Field>(value, request.*member))
        throw nanobind::type_error((std::string("the field '") + name + "' has another type").c_str());
    });
    return *this;
  }

  /// Defines the constructor, after all fields. Fields that are not given keep their defaults.
  void make_constructor() {
    class_.def("__init__", [setters = setters_](T* self, const nanobind::kwargs& fields) {
      T request;
      for (const auto& [key, value] : fields) {
        const auto name = nanobind::cast<std::string>(key);
        const auto found = setters->find(name);
        if (found == setters->end()) throw nanobind::type_error(("there is no field '" + name + "'").c_str());
        found->second(request, value);
      }
      new (self) T(std::move(request));
    });
  }

 private:
  using Setters = std::map<std::string, std::function<void(T&, nanobind::handle)>>;

  nanobind::class_<T> class_;
  std::shared_ptr<Setters> setters_ = std::make_shared<Setters>();
};

}  // namespace convene::binding
