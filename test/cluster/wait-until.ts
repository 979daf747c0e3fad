/** Waits for conditions with a time limit, and checks whether replicas are ready. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Load } from './load.ts'

export async function waitUntil(
  holds: () => boolean | Promise<boolean>,
  withinMs: number,
  what: string,
): Promise<void> {
  const giveUpAt = Date.now() + withinMs
  while (!(await holds())) {
    assert.ok(Date.now() < giveUpAt, `waited ${withinMs} ms for ${what}`)
    await sleep(25)
  }
}

/** Resolves when this many more tasks have ended. */
export async function waitForMoreTasks(load: Load, tasks: number): Promise<void> {
  const goal = load.done + tasks
  await waitUntil(() => load.done >= goal, 60_000, `${tasks} more tasks to end`)
}

export async function readyzStatus({ url }: { readonly url: string }): Promise<number> {
  return (await fetch(`${url}/readyz`)).status
}

/** Whether all replicas report ready. */
export function allReadyzAre(status: number, replicas: readonly { readonly url: string }[]): () => Promise<boolean> {
  return async () => (await Promise.all(replicas.map(readyzStatus))).every((said) => said === status)
}
