/** Durations as options spell them: `2s`, `500ms`, `1m30s`, or seconds without a unit. */

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

/** In milliseconds; `undefined` if the text is no duration. */
export function parseDuration(text: string): number | undefined {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1_000
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)].reduce(
    (sum, [, amount, unit = '']) => sum + Number(amount) * (unitMs[unit] ?? 0),
    0,
  )
}
