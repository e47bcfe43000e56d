// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

#include <totograph/core/language.hpp>

namespace totograph {

/// What `std::vector` is, for what runs while compiling. There every call costs about a microsecond, and one of
/// `std::vector` is a chain of some; here iterators are pointers, and elements that need no destructor are left alone.
template <class T>
class List {
public:
    // NOLINTBEGIN(readability-identifier-naming): as the standard library calls them
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;
    // NOLINTEND(readability-identifier-naming)

    constexpr List() = default;
    /// So many elements, as `T()` makes them.
    constexpr explicit List(std::size_t count) : List(count, T()) {}
    /// So many copies of a value.
    constexpr List(std::size_t count, const T& value) : List() { assign(count, value); }
    /// Copies of these.
    constexpr List(std::initializer_list<T> values) : List() { assign(values.begin(), values.end()); }

    constexpr List(const List& other) : List() { assign(other.begin(), other.end()); }
    constexpr List(List&& other) noexcept
        : items_(std::exchange(other.items_, nullptr)),
          size_(std::exchange(other.size_, 0)),
          capacity_(std::exchange(other.capacity_, 0)) {}
    constexpr List& operator=(const List& other) {
        if (this != &other) {
            assign(other.begin(), other.end());
        }
        return *this;
    }
    constexpr List& operator=(List&& other) noexcept {
        std::swap(items_, other.items_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        return *this;
    }
    constexpr ~List() {
        clear();
        release(items_, capacity_);
    }

    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
    [[nodiscard]] constexpr T* data() { return items_; }
    [[nodiscard]] constexpr const T* data() const { return items_; }
    [[nodiscard]] constexpr T* begin() { return items_; }
    [[nodiscard]] constexpr const T* begin() const { return items_; }
    [[nodiscard]] constexpr T* end() { return items_ + size_; }
    [[nodiscard]] constexpr const T* end() const { return items_ + size_; }
    [[nodiscard]] constexpr T& operator[](std::size_t place) { return items_[place]; }
    [[nodiscard]] constexpr const T& operator[](std::size_t place) const { return items_[place]; }
    [[nodiscard]] constexpr T& front() { return items_[0]; }
    [[nodiscard]] constexpr const T& front() const { return items_[0]; }
    [[nodiscard]] constexpr T& back() { return items_[size_ - 1]; }
    [[nodiscard]] constexpr const T& back() const { return items_[size_ - 1]; }

    /// Room for so many elements.
    constexpr void reserve(std::size_t count) {
        if (count > capacity_) {
            move_to(count);
        }
    }
    /// Appends a copy of a value, which may be one of the elements.
    constexpr void push_back(const T& value) {
        if (size_ == capacity_) {
            const T copy = value;  // NOLINT(performance-unnecessary-copy-initialization): it may lie in what moves
            move_to(2 * size_ + 8);
            place(size_++, copy);
        } else {
            place(size_++, value);
        }
    }
    /// Inserts a copy of a value before an element, and returns where it is.
    constexpr iterator insert(const_iterator before, const T& value) {
        const auto at = static_cast<std::size_t>(before - items_);
        push_back(value);
        std::rotate(items_ + at, items_ + size_ - 1, items_ + size_);
        return items_ + at;
    }
    /// Removes the last element.
    constexpr void pop_back() { shrink(size_ - 1); }
    /// Removes all elements, and keeps their memory.
    constexpr void clear() { shrink(0); }
    /// Removes elements from the end, or appends such as `T()` makes.
    constexpr void resize(std::size_t count) {
        if (count < size_) {
            shrink(count);
        }
        reserve(count);
        while (size_ < count) {
            place(size_++, T());
        }
    }
    /// So many copies of a value instead of the elements, of which it is none.
    constexpr void assign(std::size_t count, const T& value) {
        clear();
        reserve(count);
        for (; size_ < count; ++size_) {
            if constexpr (is_plain) {
                items_[size_] = value;
            } else {
                place(size_, value);
            }
        }
    }
    /// Copies of others instead of the elements, of which they are none.
    template <class Iterator>
    requires(!std::is_integral_v<Iterator>) constexpr void assign(Iterator from, Iterator end) {
        clear();
        reserve(static_cast<std::size_t>(end - from));
        for (; from != end; ++from) {
            place(size_++, *from);
        }
    }

    friend constexpr bool operator==(const List& a, const List& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

private:
    // Numbers need not be made before they are assigned, which costs no call.
    static constexpr bool is_plain = std::is_trivial_v<T>;

    static constexpr T* take(std::size_t count) {
        if constexpr (is_plain) {
            return new T[count];
        } else {
            return std::allocator<T>().allocate(count);
        }
    }
    static constexpr void release(T* items, std::size_t count) {
        if (items == nullptr) {
            return;
        }
        if constexpr (is_plain) {
            delete[] items;
        } else {
            std::allocator<T>().deallocate(items, count);
        }
    }
    template <class Value>
    constexpr void place(std::size_t at, Value&& value) {
        if constexpr (is_plain) {
            items_[at] = value;
        } else {
            std::construct_at(items_ + at, static_cast<Value&&>(value));
        }
    }
    constexpr void shrink(std::size_t count) {
        if constexpr (!std::is_trivially_destructible_v<T>) {
            for (std::size_t i = count; i < size_; ++i) {
                std::destroy_at(items_ + i);
            }
        }
        size_ = count;
    }
    constexpr void move_to(std::size_t capacity) {
        T* const before = items_;
        const std::size_t room = capacity_;
        const std::size_t count = size_;
        items_ = take(capacity);
        capacity_ = capacity;
        for (std::size_t i = 0; i < count; ++i) {
            place(i, static_cast<T&&>(before[i]));
            if constexpr (!std::is_trivially_destructible_v<T>) {
                std::destroy_at(before + i);
            }
        }
        release(before, room);
    }

    T* items_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace totograph
