/** Entry point `@parley/a2a/command-line`: what command lines share. It loads nothing else, because `--help` must not load the SDK. */
/**
 * C0 without tab and line feed, DEL, C1, and the characters that reorder text or hide in it. The joiners U+200C and U+200D stay: scripts
 * and emojis need them.
 */
const unsafe =
  // oxlint-disable-next-line no-control-regex -- these are the characters to find
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu

/**
 * Makes text that others wrote safe for a terminal: control characters, bidirectional overrides and invisible characters become visible
 * escapes. Keeps tabs and line feeds. In JSON the escapes have the same value.
 */
export function neutralize(text: string): string {
  return text.replace(unsafe, (one) =>
    one.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}

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
