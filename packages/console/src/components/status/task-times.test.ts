import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { taskTimes } from './task-times.ts'

const at = (second: number): string => new Date(second * 1_000).toISOString()
const task = (state: string, more: object) => ({
  state: `TASK_STATE_${state}`,
  createdAt: at(0),
  statusAt: at(10),
  ...more,
})

describe('the times of a task', () => {
  it('have the waiting time apart from the working time', () => {
    const ended = task('COMPLETED', { durationMs: 10_000, waitingMs: 7_000 })
    assert.deepEqual(taskTimes(ended, 99_000), { workingMs: 3_000, waitingMs: 7_000, totalMs: 10_000 })
    assert.deepEqual(taskTimes(task('COMPLETED', { durationMs: 10_000 }), 99_000), {
      workingMs: 10_000,
      waitingMs: 0,
      totalMs: 10_000,
    })
  })

  it('continue while it works, and while it waits', () => {
    const working = task('WORKING', { waitingMs: 2_000 })
    assert.deepEqual(taskTimes(working, 15_000), { workingMs: 13_000, waitingMs: 2_000, totalMs: 15_000 })
    const waiting = task('INPUT_REQUIRED', { waitingMs: 2_000 })
    assert.deepEqual(taskTimes(waiting, 15_000), { workingMs: 8_000, waitingMs: 7_000, totalMs: 15_000 })
  })
})
