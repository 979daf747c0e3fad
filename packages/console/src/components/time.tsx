/** A relative time, with the exact time as its title. */
import { now } from '../api/resource.ts'
import { formatAgo, formatDuration } from './format.ts'

export function RelativeTime({ at }: { readonly at: string | number }) {
  return <TitledTime at={at} text={formatAgo(new Date(at).getTime(), now.value)} />
}

export function ClockTime({ at }: { readonly at: string | number }) {
  return <TitledTime at={at} text={new Date(at).toLocaleTimeString('en-GB')} />
}

function TitledTime({ at, text }: { readonly at: string | number; readonly text: string }) {
  const time = new Date(at)
  return (
    <time dateTime={time.toISOString()} title={formatExactTime(time)}>
      {text}
    </time>
  )
}

/** The time elapsed so far. */
export function ElapsedTime({ at }: { readonly at: string | number }) {
  return <span>{formatDuration(Math.max(0, now.value - new Date(at).getTime()))}</span>
}

/** Without milliseconds. */
export function formatSecond(at: string | number): string {
  return new Date(at).toLocaleString('en-GB')
}

export function formatExactTime(at: Date): string {
  return `${at.toLocaleString('en-GB')}.${String(at.getMilliseconds()).padStart(3, '0')}`
}
