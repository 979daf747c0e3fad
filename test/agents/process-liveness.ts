/** Whether a process exists. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

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
  for (const giveUpAt = Date.now() + 60_000; isProcessAlive(pid); await sleep(10)) {
    assert.ok(Date.now() < giveUpAt, `process ${pid} is still there`)
  }
}
