/** What the log of a task holds, for tests of adapters. */
import type { Struct } from '@parley/a2a'
import type { Span } from '@parley/a2a/internal'
import type { Store } from '@parley/a2a/stores'

/** The spans of a task, as name, outcome and attributes. */
export async function spansOf(
  store: Store,
  taskId: string,
): Promise<readonly Pick<Span, 'name' | 'kind' | 'outcome' | 'attributes'>[]> {
  const records = await store.tasks.read(taskId, 0)
  return records.flatMap(({ body }) => (body.type === 'span' ? [body.span] : []))
}

/** The metadata of its status updates, in order. */
export async function statusMetadata(store: Store, taskId: string): Promise<readonly Struct[]> {
  const records = await store.tasks.read(taskId, 0)
  return records.flatMap(({ body }) => (body.type === 'status' && body.metadata !== undefined ? [body.metadata] : []))
}
