/** When something was: roughly, with the exact time to be had by pointing at it. */
import { now } from '../api/resource.ts'
import { ago, duration } from './words.ts'

export function Ago({ at }: { readonly at: string | number }) {
  const time = new Date(at)
  return (
    <time dateTime={time.toISOString()} title={exact(time)}>
      {ago(time.getTime(), now.value)}
    </time>
  )
}

export function Clock({ at }: { readonly at: string | number }) {
  const time = new Date(at)
  return (
    <time dateTime={time.toISOString()} title={exact(time)}>
      {time.toLocaleTimeString('en-GB')}
    </time>
  )
}

/** How long something has taken so far. */
export function Since({ at }: { readonly at: string | number }) {
  return <span>{duration(Math.max(0, now.value - new Date(at).getTime()))}</span>
}

export function exact(at: Date): string {
  return `${at.toLocaleString('en-GB')}.${String(at.getMilliseconds()).padStart(3, '0')}`
}
