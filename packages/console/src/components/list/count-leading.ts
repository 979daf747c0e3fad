/** How many of `count` items come before the first for which `isLeading` is false, by binary search. */
export function countLeading(count: number, isLeading: (index: number) => boolean): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >> 1
    if (isLeading(middle)) low = middle + 1
    else high = middle
  }
  return low
}
