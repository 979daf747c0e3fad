import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { thingAt, withRecent } from './recent.ts'
import type { Recent } from './recent.ts'

const at = (path: string): Recent => ({ path, title: path, about: 'task' })

describe('where one was', () => {
  it('is kept with the newest first, each once, and not for ever', () => {
    let all: readonly Recent[] = []
    for (const path of ['a', 'b', 'a', 'c', 'd', 'e', 'f', 'g']) all = withRecent(all, at(path))
    assert.deepEqual(
      all.map(({ path }) => path),
      ['g', 'f', 'e', 'd', 'c', 'a'],
    )
  })

  it('is a thing and not a list, by the name that the page gave it', () => {
    assert.deepEqual(thingAt('tasks', ['1', 'events'], 'Tasks · Parley'), {
      path: '/tasks/1',
      title: '1',
      about: 'task',
    })
    assert.equal(thingAt('agents', ['a b'], 'The A · Agents · Parley')?.title, 'The A')
    assert.equal(thingAt('agents', ['a b'], '')?.path, '/agents/a%20b')
    assert.equal(thingAt('tasks', [], 'Tasks · Parley'), undefined)
    assert.equal(thingAt('settings', ['health'], 'Settings · Parley'), undefined)
  })
})
