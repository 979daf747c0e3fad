/** A relative time, with the exact time as its title. */
import { now } from '../api/resource.ts'
import { formatAgo, formatDuration } from './format.ts'

export function RelativeTime({ at }: { readonly at: string | number }) {
  const time = new Date(at)
  return (
    <time dateTime={time.toISOString()} title={formatExactTime(time)}>
      {formatAgo(time.getTime(), now.value)}
    </time>
  )
}

export function ClockTime({ at }: { readonly at: string | number }) {
  const time = new Date(at)
  return (
    <time dateTime={time.toISOString()} title={formatExactTime(time)}>
      {time.toLocaleTimeString('en-GB')}
    </time>
  )
}

/** The time elapsed so far. */
export function ElapsedTime({ at }: { readonly at: string | number }) {
  return <span>{formatDuration(Math.max(0, now.value - new Date(at).getTime()))}</span>
}

export function formatExactTime(at: Date): string {
  return `${at.toLocaleString('en-GB')}.${String(at.getMilliseconds()).padStart(3, '0')}`
}
