//! Functions of arrays.

pub(super) mod forms;
pub(super) mod item_limits;
pub(super) mod nested;
pub(super) mod operators;
pub(super) mod or_empty;
pub(super) mod quantifiers;
pub(super) mod series;

use crate::Refusal;
use crate::error::{QueryError, QueryResult};
use crate::functions::allowance::check_allocation;
use crate::functions::array::forms::{Returns, of_array};
use crate::functions::sql::{Definition, Form, define_any, wrong};
use crate::functions::text::may_have;
use types::DataType::{self, Integer, Text};
use types::array::MAX_ITEMS;
use types::array::dimensions;
use types::{Datum, ElementType};

const LENGTH: Returns = Returns::Known(Integer);

pub(in crate::functions) static FUNCTIONS: &[Definition] = &[
    define_any("array_append", |types| of_array(types, 0, Returns::Array, false, append)),
    define_any("array_prepend", |types| of_array(types, 1, Returns::Array, false, prepend)),
    define_any("array_cat", |types| of_array(types, 0, Returns::Array, false, cat)),
    define_any("array_remove", |types| of_array(types, 0, Returns::Array, false, remove)),
    define_any("array_replace", |types| of_array(types, 0, Returns::Array, false, replace)),
    define_any("array_position", |types| of_array(types, 0, LENGTH, false, position)),
    define_any("array_positions", |types| {
        of_array(types, 0, Returns::Known(DataType::Array(ElementType::Integer)), false, positions)
    }),
    // With one argument it is Phoenix's ARRAY_LENGTH, for arrays of one dimension.
    define_any("array_length", |types| of_array(types, 0, LENGTH, true, if types.len() == 1 { count } else { length })),
    define_any("array_upper", |types| of_array(types, 0, LENGTH, true, length)),
    define_any("array_lower", |types| {
        of_array(types, 0, LENGTH, true, |args| Ok(if length(args)?.is_null() { Datum::Null } else { Datum::Int4(1) }))
    }),
    define_any("array_ndims", |types| {
        of_array(types, 0, LENGTH, true, |args| {
            let count = dimensions(items(args, 0)?).len();
            Ok(if count == 0 { Datum::Null } else { Datum::Int4(count as i32) })
        })
    }),
    define_any("array_dims", |types| {
        of_array(types, 0, Returns::Known(Text), true, |args| {
            let sizes = dimensions(items(args, 0)?);
            let shown: String = sizes.iter().map(|size| format!("[1:{size}]")).collect();
            Ok(if sizes.is_empty() { Datum::Null } else { Datum::Text(shown) })
        })
    }),
    define_any("cardinality", |types| of_array(types, 0, LENGTH, true, count)),
    define_any("array_to_string", |types| of_array(types, 0, Returns::Known(Text), false, to_string)),
    define_any("trim_array", |types| of_array(types, 0, Returns::Array, true, trim)),
    define_any("array_fill", array_fill),
    // `string_agg` with a delimiter per value, `a[n]`, `a[from:to]` and arrays of `char(n)`, under names that no query can write.
    define_any("texts joined", |types| of_array(types, 0, Returns::Known(Text), false, texts_joined)),
    define_any("array subscript", |types| of_array(types, 0, Returns::Element, true, subscript)),
    define_any("array slice inside", |types| of_array(types, 0, Returns::Array, true, slice_inside)),
    define_any("array without blanks", |types| of_array(types, 0, Returns::Array, true, without_blanks)),
    define_any("array slice", |types| of_array(types, 0, Returns::Array, true, slice)),
];

/// The form with an array of dimensions, or Phoenix's with a number of elements.
fn array_fill(types: &[DataType]) -> Option<Form> {
    let returns = DataType::Array(ElementType::of(types.first()?)?);
    let fill_one = |args: &[Datum]| match args {
        [_, Datum::Null] => fill(args),
        [value, size] => fill(&[value.clone(), Datum::Array(vec![size.clone()])]),
        other => Err(wrong(other)),
    };
    let body = if types.get(1).is_some_and(DataType::is_integer) { fill_one } else { fill };
    Some(Form { types: types.to_vec(), returns, strict: false, body })
}

/// Removes the trailing blanks of the elements, which are not significant in `char(n)`.
fn without_blanks(args: &[Datum]) -> QueryResult<Datum> {
    fn trimmed(item: &Datum) -> Datum {
        match item {
            Datum::Text(text) => Datum::Text(text.trim_end_matches(' ').to_owned()),
            Datum::Array(items) => Datum::Array(items.iter().map(trimmed).collect()),
            other => other.clone(),
        }
    }
    Ok(Datum::Array(items(args, 0)?.iter().map(trimmed).collect()))
}

/// Returns the number of elements in all dimensions.
fn count(args: &[Datum]) -> QueryResult<Datum> {
    let sizes = dimensions(items(args, 0)?);
    Ok(Datum::Int4(if sizes.is_empty() { 0 } else { sizes.iter().product::<usize>() as i32 }))
}

pub(in crate::functions) fn items(args: &[Datum], at: usize) -> QueryResult<&[Datum]> {
    match args.get(at) {
        Some(Datum::Array(items)) => Ok(items),
        _ => Err(wrong(args)),
    }
}

/// Returns the elements of all dimensions in one list.
pub(in crate::functions) fn flat(items: &[Datum]) -> Vec<Datum> {
    items
        .iter()
        .flat_map(|item| match item {
            Datum::Array(inner) => flat(inner),
            item => vec![item.clone()],
        })
        .collect()
}

/// Treats NULL as an empty array.
fn or_empty(value: &Datum) -> Vec<Datum> {
    match value {
        Datum::Array(items) => items.clone(),
        _ => Vec::new(),
    }
}

pub(in crate::functions) fn append(args: &[Datum]) -> QueryResult<Datum> {
    let [array, element] = args else { return Err(wrong(args)) };
    let mut all = one_dimension(array)?;
    all.push(element.clone());
    Ok(Datum::Array(all))
}

pub(in crate::functions) fn prepend(args: &[Datum]) -> QueryResult<Datum> {
    let [element, array] = args else { return Err(wrong(args)) };
    let mut all = vec![element.clone()];
    all.extend(one_dimension(array)?);
    Ok(Datum::Array(all))
}

/// Returns the elements of an array to which an element is appended or prepended.
///
/// # Errors
/// 22000 for an array of several dimensions.
fn one_dimension(array: &Datum) -> QueryResult<Vec<Datum>> {
    let items = or_empty(array);
    match items.iter().any(|item| matches!(item, Datum::Array(_))) {
        true => Err(Refusal::Data.because("argument must be empty or one-dimensional array")),
        false => Ok(items),
    }
}

pub(in crate::functions) fn cat(args: &[Datum]) -> QueryResult<Datum> {
    let [a, b] = args else { return Err(wrong(args)) };
    if a.is_null() || b.is_null() {
        return Ok(if a.is_null() { b.clone() } else { a.clone() });
    }
    let (mut a, mut b) = (or_empty(a), or_empty(b));
    if a.is_empty() || b.is_empty() {
        a.append(&mut b);
        return Ok(Datum::Array(a));
    }
    let (x, y) = (dimensions(&a), dimensions(&b));
    // `{{1,2}} || {3,4}` adds a row, which has the length of the other rows.
    if x.get(1..) == Some(y.as_slice()) {
        a.push(Datum::Array(b));
        return Ok(Datum::Array(a));
    }
    if y.get(1..) == Some(x.as_slice()) {
        b.insert(0, Datum::Array(a));
        return Ok(Datum::Array(b));
    }
    if x.len() != y.len() || x.get(1..) != y.get(1..) {
        return Err(Refusal::Subscript.because("cannot concatenate incompatible arrays"));
    }
    a.append(&mut b);
    Ok(Datum::Array(a))
}

fn remove(args: &[Datum]) -> QueryResult<Datum> {
    let [array, element] = args else { return Err(wrong(args)) };
    if array.is_null() {
        return Ok(Datum::Null);
    }
    Ok(Datum::Array(or_empty(array).into_iter().filter(|item| item != element).collect()))
}

fn replace(args: &[Datum]) -> QueryResult<Datum> {
    let [array, from, to] = args else { return Err(wrong(args)) };
    if array.is_null() {
        return Ok(Datum::Null);
    }
    let replaced = or_empty(array).into_iter().map(|item| match item {
        part @ Datum::Array(_) => replace(&[part, from.clone(), to.clone()]),
        item if item == *from => Ok(to.clone()),
        item => Ok(item),
    });
    Ok(Datum::Array(replaced.collect::<QueryResult<_>>()?))
}

fn position(args: &[Datum]) -> QueryResult<Datum> {
    let [array, element, rest @ ..] = args else { return Err(wrong(args)) };
    if !array.is_null() && rest.first().is_some_and(Datum::is_null) {
        return Err(Refusal::Null.because("initial position must not be null"));
    }
    let start = rest.first().and_then(Datum::as_i64).unwrap_or(1).max(1);
    let skipped = usize::try_from(start - 1).unwrap_or(0);
    let found = or_empty(array).iter().skip(skipped).position(|item| item == element);
    Ok(found.map_or(Datum::Null, |at| Datum::Int4((at + skipped + 1) as i32)))
}

fn positions(args: &[Datum]) -> QueryResult<Datum> {
    let [array, element] = args else { return Err(wrong(args)) };
    if array.is_null() {
        return Ok(Datum::Null);
    }
    let all = or_empty(array);
    let found = all.iter().zip(1..).filter(|(item, _)| *item == element).map(|(_, at)| Datum::Int4(at));
    Ok(Datum::Array(found.collect()))
}

/// Returns the size of a dimension.
fn length(args: &[Datum]) -> QueryResult<Datum> {
    let sizes = dimensions(items(args, 0)?);
    let number = args.get(1).and_then(Datum::as_i64).and_then(|number| usize::try_from(number).ok());
    let size = number.and_then(|number| number.checked_sub(1)).and_then(|number| sizes.get(number).copied());
    Ok(size.map_or(Datum::Null, |size| Datum::Int4(size as i32)))
}

fn to_string(args: &[Datum]) -> QueryResult<Datum> {
    let (Some(Datum::Array(array)), Some(Datum::Text(separator))) = (args.first(), args.get(1)) else {
        return Ok(Datum::Null);
    };
    let mut parts = Vec::new();
    for item in flat(array) {
        match (item, args.get(2)) {
            (Datum::Null, Some(Datum::Text(null))) => parts.push(null.clone()),
            (Datum::Null, _) => {}
            (item, _) => parts.push(crate::functions::any_type::shown(&item)),
        }
    }
    may_have(parts.iter().map(|part| part.len() + separator.len()).fold(0, usize::saturating_add))?;
    Ok(Datum::Text(parts.join(separator)))
}

/// Joins texts with a delimiter in front of each but the first; a NULL delimiter is empty.
fn texts_joined(args: &[Datum]) -> QueryResult<Datum> {
    let [Datum::Array(texts), Datum::Array(delimiters)] = args else { return Ok(Datum::Null) };
    let parts = || delimiters.iter().zip(texts).flat_map(|(delimiter, text)| [delimiter, text]).skip(1);
    let texts = || parts().filter_map(|part| if let Datum::Text(text) = part { Some(text.as_str()) } else { None });
    may_have(texts().map(str::len).fold(0, usize::saturating_add))?;
    Ok(Datum::Text(texts().collect()))
}

fn trim(args: &[Datum]) -> QueryResult<Datum> {
    let all = items(args, 0)?;
    let count = args.get(1).and_then(Datum::as_i64).and_then(|count| usize::try_from(count).ok());
    let count = count.filter(|count| *count <= all.len()).ok_or_else(|| {
        Refusal::Subscript.because(format!("number of elements to trim must be between 0 and {}", all.len()))
    })?;
    Ok(Datum::Array(all.iter().take(all.len() - count).cloned().collect()))
}

/// Fills an array of the given dimensions.
fn fill(args: &[Datum]) -> QueryResult<Datum> {
    let [element, Datum::Array(sizes)] = args else {
        return Err(Refusal::Null.because("dimension array or low bound array cannot be null"));
    };
    let sizes: Option<Vec<i64>> = sizes.iter().map(Datum::as_i64).collect();
    let sizes = sizes.ok_or_else(|| Refusal::Null.because("dimension values cannot be null"))?;
    // A negative size counts as too large, as in PostgreSQL.
    let sizes: Vec<usize> = sizes.into_iter().map(|size| usize::try_from(size).unwrap_or(usize::MAX)).collect();
    let count = sizes.iter().try_fold(1_usize, |count, size| count.checked_mul(*size));
    if count.is_none_or(|count| count > MAX_ITEMS) {
        return Err(Refusal::Size.because(format!("array size exceeds the maximum allowed ({MAX_ITEMS})")));
    }
    match sizes.as_slice() {
        [] => Ok(Datum::Array(Vec::new())),
        [size] => {
            check_allocation(element.memory_size().saturating_mul(*size))?;
            Ok(Datum::Array(vec![element.clone(); *size]))
        }
        _ => Err(QueryError::Unsupported { feature: "array_fill() of several dimensions".to_owned() }),
    }
}

/// Returns NULL if a subscript is outside the array, as in PostgreSQL.
fn subscript(args: &[Datum]) -> QueryResult<Datum> {
    let Some((array, places)) = args.split_first() else { return Err(wrong(args)) };
    let mut value = array.clone();
    for place in places {
        let Datum::Array(items) = value else { return Ok(Datum::Null) };
        let at = place.as_i64().and_then(|place| usize::try_from(place).ok()).and_then(|place| place.checked_sub(1));
        value = at.and_then(|at| items.get(at).cloned()).unwrap_or(Datum::Null);
    }
    // Fewer subscripts than dimensions select no element.
    Ok(if matches!(value, Datum::Array(_)) { Datum::Null } else { value })
}

/// `a[from:to]`.
fn slice(args: &[Datum]) -> QueryResult<Datum> {
    let [array, from, to] = args else { return Err(wrong(args)) };
    let all = or_empty(array);
    let first = from.as_i64().unwrap_or(1).max(1);
    let last = to.as_i64().unwrap_or(i64::MAX).min(all.len() as i64);
    let count = usize::try_from(last - first + 1).unwrap_or(0);
    let skipped = usize::try_from(first - 1).unwrap_or(usize::MAX);
    Ok(Datum::Array(all.into_iter().skip(skipped).take(count).collect()))
}

/// Slices a dimension after the first: `(x)[1:2][2:3]`. Returns an empty array if that dimension does not exist.
fn slice_inside(args: &[Datum]) -> QueryResult<Datum> {
    let [array, from, to, dimension] = args else { return Err(wrong(args)) };
    let dimension = dimension.as_i64().unwrap_or(1);
    let cut = |part: Datum| match part {
        part @ Datum::Array(_) if dimension > 1 => {
            slice_inside(&[part, from.clone(), to.clone(), Datum::Int4((dimension - 1) as i32)])
        }
        part @ Datum::Array(_) => slice(&[part, from.clone(), to.clone()]),
        _ => Ok(Datum::Array(Vec::new())),
    };
    let parts = or_empty(array).into_iter().map(cut).collect::<QueryResult<Vec<Datum>>>()?;
    let empty = parts.iter().all(|part| matches!(part, Datum::Array(items) if items.is_empty()));
    Ok(Datum::Array(if empty { Vec::new() } else { parts }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(all: &[i32]) -> Datum {
        Datum::Array(all.iter().map(|n| Datum::Int4(*n)).collect())
    }

    #[test]
    fn slices_are_cut_to_the_array() {
        let cut = |from, to| slice(&[numbers(&[1, 2, 3]), from, to]).ok();
        assert_eq!(cut(Datum::Int4(2), Datum::Int4(i32::MAX)), Some(numbers(&[2, 3])));
        assert_eq!(cut(Datum::Int4(-5), Datum::Int4(2)), Some(numbers(&[1, 2])));
        assert_eq!(cut(Datum::Int4(4), Datum::Int4(9)), Some(numbers(&[])));
    }
}
