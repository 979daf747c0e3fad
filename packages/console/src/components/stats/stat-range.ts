/** The ranges of statistics: their short names for a choice, and their names within a sentence. */
export type StatRange = '1h' | '24h' | '7d' | '30d'

export const ranges: readonly (readonly [StatRange, string])[] = [
  ['1h', '1 h'],
  ['24h', '24 h'],
  ['7d', '7 d'],
  ['30d', '30 d'],
]

export const rangeNames: Readonly<Record<StatRange, string>> = {
  '1h': 'the last hour',
  '24h': 'the last 24 hours',
  '7d': 'the last 7 days',
  '30d': 'the last 30 days',
}

export function peak(value: string, when: string): string {
  return `at most ${value} at ${when}`
}
