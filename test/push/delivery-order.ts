/** The expected notifications of a webhook and their order, compared with the received ones. */
import { openWire } from '../crash/client.ts'
import type { Arrival } from './faulty-receiver.ts'

/** The received events, each at its first position. */
export function receivedSeqs(arrivals: readonly Arrival[]): readonly number[] {
  return [...new Set(arrivals.flatMap(({ seq, acknowledged }) => (acknowledged ? [seq] : [])))]
}

/** The events that arrived before an earlier one was received, one sentence each. */
export function outOfOrder(arrivals: readonly Arrival[], expected: readonly number[]): readonly string[] {
  const had = new Set<number>()
  return arrivals.flatMap(({ seq, acknowledged }) => {
    const missing = expected.filter((one) => one < seq && !had.has(one))
    if (acknowledged) had.add(seq)
    return missing.length === 0 ? [] : [`${seq} came before ${missing.join()}`]
  })
}

/** What a new reader sees. */
export async function visibleSeqs(url: string, taskId: string): Promise<readonly number[]> {
  const wire = openWire(url, 'counter', { version: '1.0', binding: 'JSONRPC' })
  const seqs: number[] = []
  for await (const { id } of wire.stream('SubscribeToTask', { id: taskId }, { lastEventId: '0' })) seqs.push(Number(id))
  return seqs
}
