/** Waits for tasks of a load to end, and checks whether replicas are ready. */
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'
import type { Load } from './load.ts'

/** Resolves when this many more tasks have ended. */
export async function waitForMoreTasks(load: Load, tasks: number): Promise<void> {
  const goal = load.done + tasks
  await eventually(() => load.done >= goal, `${tasks} more tasks to end`)
}

export async function readyzStatus({ url }: { readonly url: string }): Promise<number> {
  return (await fetch(`${url}/readyz`)).status
}

/** Whether all replicas report ready. */
export function allReadyzAre(status: number, replicas: readonly { readonly url: string }[]): () => Promise<boolean> {
  return async () => (await Promise.all(replicas.map(readyzStatus))).every((said) => said === status)
}
