// bench/compile_time.sh compiles this to measure how fast the machine compiles: standard headers and
// templates only.
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <vector>

std::map<std::string, std::vector<std::string>> words_by_pattern(const std::vector<std::string>& patterns,
                                                                 const std::vector<std::string>& words) {
    std::map<std::string, std::vector<std::string>> found;
    for (const std::string& pattern : patterns) {
        const std::function<bool(const std::string&)> matches =
            [expression = std::regex(pattern)](const std::string& word) {
                return std::regex_match(word, expression);
            };
        std::vector<std::string>& matching = found[pattern];
        std::copy_if(words.begin(), words.end(), std::back_inserter(matching), matches);
        std::stable_sort(matching.begin(), matching.end());
    }
    return found;
}
