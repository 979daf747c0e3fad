/** The name that a misspelled word was meant to be. */

/**
 * Returns the name of `known` that `word` was most likely meant to be, for the hint of an error: `baseUrl` for `baseURL`, `stream` for
 * `steam`, `agent-card` for `agent`. `undefined` if none is near.
 */
export function nearestName(word: string, known: readonly string[]): string | undefined {
  const same = known.find((one) => normalize(one) === normalize(word))
  if (same !== undefined) return same
  const maxDistance = word.length < 3 ? 0 : word.length < 6 ? 1 : 2
  const [best] = known
    .map((one) => ({ one, distance: editDistance(normalize(word), normalize(one)) }))
    .filter(({ one, distance }) => distance <= maxDistance && distance < one.length)
    .toSorted((a, b) => a.distance - b.distance)
  return best?.one ?? known.find((one) => word.length > 2 && one.startsWith(`${word.toLowerCase()}-`))
}

function normalize(word: string): string {
  return word.toLowerCase().replaceAll(/[-_]/g, '')
}

/** Counts insertions, deletions, substitutions and swaps of adjacent letters. */
function editDistance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)]
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0
  for (let i = 1; i <= a.length; i += 1) {
    rows.push([i])
    for (let j = 1; j <= b.length; j += 1) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const changed = at(i - 1, j - 1) + (isSame ? 0 : 1)
      const swapped = isSwapped ? at(i - 2, j - 2) + 1 : Infinity
      rows[i]?.push(Math.min(changed, swapped, at(i - 1, j) + 1, at(i, j - 1) + 1))
    }
  }
  return at(a.length, b.length)
}
