/** Finds the name that was most likely meant, for the hint of a usage error: `stream` for `steam`, `agent-card` for `agent`. */

export function nearestName(word: string, known: readonly string[]): string | undefined {
  const maxDistance = word.length < 4 ? 1 : 2
  const [best] = known
    .map((name) => ({ name, distance: editDistance(word.toLowerCase(), name) }))
    .filter(({ name, distance }) => distance <= maxDistance && distance < name.length)
    .toSorted((a, b) => a.distance - b.distance)
  return best?.name ?? known.find((name) => word.length > 2 && name.startsWith(`${word.toLowerCase()}-`))
}

/** Counts insertions, deletions, substitutions, and swaps of two neighbors. */
function editDistance(a: string, b: string): number {
  let previous: readonly number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, letter] of a.split('').entries()) {
    const next = [i + 1]
    for (let j = 1; j <= b.length; j += 1) {
      const substituted = (row[j - 1] ?? 0) + (letter === b[j - 1] ? 0 : 1)
      const isSwap = i > 0 && j > 1 && letter === b[j - 2] && a[i - 1] === b[j - 1]
      const swapped = isSwap ? (previous[j - 2] ?? 0) + 1 : Infinity
      next.push(Math.min(substituted, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    previous = row
    row = next
  }
  return row[b.length] ?? 0
}
