/** Formats times, durations, sizes and numbers. */
import { currency } from '../api/currency.ts'

export function formatDuration(ms: number): string {
  if (ms < 1) return '0 ms'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
  return `${Math.floor(minutes / 1_440)} d ${Math.floor((minutes % 1_440) / 60)} h`
}

/** Relative time, past or future. */
export function formatAgo(at: number, now: number): string {
  const ms = now - at
  if (Math.abs(ms) < 2_000) return 'now'
  const text = formatRoughly(Math.abs(ms))
  return ms > 0 ? `${text} ago` : `in ${text}`
}

function formatRoughly(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`
}

export function formatBytes(count: number): string {
  if (count < 1_000) return `${count} B`
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)} kB`
  return `${(count / 1_000_000).toFixed(1)} MB`
}

export function formatCount(value: number): string {
  return value.toLocaleString('en-US')
}

/** For little space: `12,345` is `12.3k`. */
export function formatCompact(value: number): string {
  if (value < 10_000) return formatCount(value)
  return value < 1_000_000 ? `${(value / 1_000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`
}

/** In the currency of the hub; small amounts with more digits. */
export function formatCost(value: number): string {
  const digits = value >= 1 ? { minimumFractionDigits: 2, maximumFractionDigits: 2 } : { maximumSignificantDigits: 3 }
  const unit = currency.value === undefined ? {} : ({ style: 'currency', currency: currency.value } as const)
  return value.toLocaleString('en-US', { ...digits, ...unit })
}

/** `1 task`, `2 tasks`. */
export function pluralize(value: number, one: string, several = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : several}`
}

/** Keeps the beginning and the end, which people compare. */
export function truncateMiddle(id: string, longest = 13): string {
  if (id.length <= longest) return id
  const end = Math.floor((longest - 1) / 3)
  return `${id.slice(0, longest - 1 - end)}…${id.slice(-end)}`
}
