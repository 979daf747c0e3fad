/** Presets of a time filter. */

const presets = {
  '': 'Any time',
  '15m': 'Last 15 min',
  '1h': 'Last hour',
  '1d': 'Last day',
  '7d': 'Last 7 days',
  custom: 'Custom range',
}

export type TimePreset = '' | '15m' | '1h' | '1d' | '7d' | 'custom'

export const timePresets: readonly (readonly [span: TimePreset, text: string])[] = (
  ['', '15m', '1h', '1d', '7d', 'custom'] as const
).map((span) => [span, presets[span]])

const timePresetMs: Readonly<Record<string, number>> = {
  '15m': 900_000,
  '1h': 3_600_000,
  '1d': 86_400_000,
  '7d': 604_800_000,
}

export interface TimeRange {
  readonly since?: string
  readonly until?: string
}

/** The range of a time filter, as ISO 8601. "The last hour" is relative to `now`. */
export function timeRange(
  filters: { readonly time: string; readonly since?: string; readonly until?: string },
  now: number,
): TimeRange {
  const spanMs = timePresetMs[filters.time]
  if (spanMs !== undefined) return { since: new Date(now - spanMs).toISOString() }
  const { since = '', until = '' } = filters
  return { ...(since === '' ? {} : { since }), ...(until === '' ? {} : { until }) }
}
