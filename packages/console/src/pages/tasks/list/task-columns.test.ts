import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { visibleColumns } from './task-columns.ts'

const names = (width: number, hidden: readonly any[] = ['context', 'events', 'created']): string =>
  visibleColumns(hidden, width)
    .map(({ name }) => name)
    .join(' ')

describe('the columns of the task table', () => {
  it('leave in the order of their importance when there is little space', () => {
    assert.equal(names(1_200), 'state agent task result caller duration updated')
    assert.equal(names(850), 'state agent task result duration updated')
    assert.equal(names(660), 'state agent task duration updated')
    assert.equal(names(100), 'task')
  })

  it('are those that the user has chosen', () => {
    assert.equal(names(1_200, ['state', 'agent', 'caller', 'result']), 'task context events duration created updated')
  })
})
