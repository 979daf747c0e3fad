/** Whether a process exists. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { eventually } from '../../packages/a2a/src/testing/fixtures/eventually.ts'

export function isProcessAlive(pid: number): boolean {
  try {
    // A zombie waits for a parent that this machine may not have.
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'))
  } catch {
    return false
  }
}

export async function waitForProcessExit(pid: number): Promise<void> {
  assert.ok(pid > 1, `there is no process ${pid}`)
  await eventually(() => !isProcessAlive(pid), `process ${pid} to end`)
}
