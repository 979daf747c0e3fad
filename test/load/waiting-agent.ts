/** An agent of the load test: writes a little, or many megabytes, and then waits until it is canceled. */
import type { Turn } from '@parley/a2a'

const piece = 'x'.repeat(250_000)

export default async function* ({ text, signal }: Turn): AsyncGenerator<string> {
  const megabytes = Number(/^big (\d+)$/.exec(text)?.[1] ?? 0)
  for (let count = 0; count < megabytes * 4; count += 1) yield piece
  yield 'waiting'
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}
