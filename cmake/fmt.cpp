// SPDX-License-Identifier: BSD-3-Clause
// {fmt}, compiled once. As headers only it is compiled anew in every file that uses it, seconds each; as a shared
// library it could not go into a library that may enter any process.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE
namespace detail {

// What the headers of fmt 9 declare as instantiated elsewhere.
template char decimal_point_impl(locale_ref);
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template void vformat_to(buffer<char>&, string_view, basic_format_args<buffer_context<char>>, locale_ref);

}  // namespace detail
FMT_END_NAMESPACE
