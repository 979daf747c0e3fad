/** What a webhook must have been told, and in which order, beside what it was told. */
import { openWire } from '../crash/client.ts'
import type { Arrival } from './faulty-receiver.ts'

/** The events that were received, each where it was first. */
export function receivedSeqs(arrivals: readonly Arrival[]): readonly number[] {
  return [...new Set(arrivals.flatMap(({ seq, acknowledged }) => (acknowledged ? [seq] : [])))]
}

/** What came before all that is before it had been received: a sentence each. */
export function outOfOrder(arrivals: readonly Arrival[], expected: readonly number[]): readonly string[] {
  const had = new Set<number>()
  return arrivals.flatMap(({ seq, acknowledged }) => {
    const missing = expected.filter((one) => one < seq && !had.has(one))
    if (acknowledged) had.add(seq)
    return missing.length === 0 ? [] : [`${seq} came before ${missing.join()}`]
  })
}

/** What a reader sees who has seen nothing yet. */
export async function visibleSeqs(url: string, taskId: string): Promise<readonly number[]> {
  const wire = openWire(url, 'counter', { version: '1.0', binding: 'JSONRPC' })
  const seqs: number[] = []
  for await (const { id } of wire.stream('SubscribeToTask', { id: taskId }, { lastEventId: '0' })) seqs.push(Number(id))
  return seqs
}
