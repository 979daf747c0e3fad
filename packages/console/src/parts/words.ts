/** Times, spans of time, sizes and numbers, as people say them. */

export function duration(ms: number): string {
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

/** How long ago, or in how long. */
export function ago(at: number, now: number): string {
  const ms = now - at
  if (Math.abs(ms) < 2_000) return 'now'
  const text = roughly(Math.abs(ms))
  return ms > 0 ? `${text} ago` : `in ${text}`
}

function roughly(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.round(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} d`
}

export function bytes(count: number): string {
  if (count < 1_000) return `${count} B`
  if (count < 1_000_000) return `${(count / 1_000).toFixed(count < 10_000 ? 1 : 0)} kB`
  return `${(count / 1_000_000).toFixed(1)} MB`
}

export function count(value: number): string {
  return value.toLocaleString('en-US')
}

/** Where there is little room: `12,345` is `12.3k`. */
export function short(value: number): string {
  if (value < 10_000) return count(value)
  return value < 1_000_000 ? `${(value / 1_000).toFixed(1)}k` : `${(value / 1_000_000).toFixed(1)}M`
}

/** In whichever currency the prices are; small sums as exactly as they need it. */
export function cost(value: number): string {
  const digits = { minimumFractionDigits: 2, maximumFractionDigits: 2 }
  return value.toLocaleString('en-US', value >= 1 ? digits : { maximumSignificantDigits: 3 })
}

/** `1 task`, `2 tasks`. */
export function many(value: number, one: string, several = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : several}`
}

/** The beginning and the end, which is what people compare. */
export function shortened(id: string, longest = 13): string {
  if (id.length <= longest) return id
  const end = Math.floor((longest - 1) / 3)
  return `${id.slice(0, longest - 1 - end)}…${id.slice(-end)}`
}
