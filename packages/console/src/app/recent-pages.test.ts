import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { recentPageAt, addRecentPage, type RecentPage } from './recent-pages.ts'

const at = (path: string): RecentPage => ({ path, title: path, about: 'task' })

describe('recent pages', () => {
  it('are limited, newest first, without duplicates', () => {
    let all: readonly RecentPage[] = []
    for (const path of ['a', 'b', 'a', 'c', 'd', 'e', 'f', 'g']) all = addRecentPage(all, at(path))
    assert.deepEqual(
      all.map(({ path }) => path),
      ['g', 'f', 'e', 'd', 'c', 'a'],
    )
  })

  it('are items and not lists, named by the title of the page', () => {
    assert.deepEqual(recentPageAt('tasks', ['1', 'events'], 'Tasks · Parley'), {
      path: '/tasks/1',
      title: '1',
      about: 'task',
    })
    assert.equal(recentPageAt('agents', ['a b'], 'The A · Agents · Parley')?.title, 'The A')
    assert.equal(recentPageAt('agents', ['a b'], '')?.path, '/agents/a%20b')
    assert.equal(recentPageAt('tasks', [], 'Tasks · Parley'), undefined)
    assert.equal(recentPageAt('settings', ['health'], 'Settings · Parley'), undefined)
  })
})
