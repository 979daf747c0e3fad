import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createKeySequence, keyCaps } from './key-sequence.ts'

const known = ['g t', 'g a', 'j', 'a', 'mod+k']

function open() {
  let time = 0
  const press = createKeySequence(() => time)
  return {
    press: (key: string, isMod = false) => press({ key, isMod }, known),
    pass: (ms: number) => void (time += ms),
  }
}

describe('pressed keys', () => {
  it('match a sequence of two, or a single key', () => {
    const { press } = open()
    assert.deepEqual(press('g'), { name: 'g', isPrefix: true })
    assert.deepEqual(press('a'), { name: 'g a', isPrefix: false })
    assert.deepEqual(press('a'), { name: 'a', isPrefix: false })
  })

  it('match alone if the second is late or matches nothing', () => {
    const { press, pass } = open()
    press('g')
    pass(2_000)
    assert.equal(press('a').name, 'a')
    press('g')
    assert.equal(press('j').name, 'j')
    assert.equal(press('a').name, 'a')
  })

  it('differ with Ctrl or ⌘', () => {
    const { press } = open()
    assert.equal(press('K', true).name, 'mod+k')
  })

  it('are shown as on a keyboard', () => {
    assert.deepEqual(keyCaps('mod+k', false), ['Ctrl', 'K'])
    assert.deepEqual(keyCaps('mod+k', true), ['⌘', 'K'])
    assert.deepEqual(keyCaps('g t', false), ['g', 't'])
    assert.deepEqual(
      ['Escape', 'ArrowDown', ' ', '?'].map((key) => keyCaps(key, false).join()),
      ['Esc', '↓', 'Space', '?'],
    )
  })
})
