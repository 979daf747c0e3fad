import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createAnswer, createItems } from './answer.ts'

const chunk = (text: string, append: boolean): object => ({
  artifact: { artifactId: 'answer', parts: [{ text }] },
  ...(append ? { append: true } : {}),
})

describe('an answer', () => {
  it('is told in chunks as it grows', () => {
    const answer = createAnswer('answer')
    assert.deepEqual(answer.become('one'), chunk('one', false))
    assert.deepEqual(answer.become('one two'), chunk(' two', true))
    assert.equal(answer.become('one two'), undefined)
    assert.deepEqual(answer.close(), { ...chunk('', true), lastChunk: true })
  })

  it('begins anew when it has become another', () => {
    const answer = createAnswer('answer')
    answer.become('Wrong words')
    assert.deepEqual(answer.become(''), chunk('', false))
    assert.deepEqual(answer.become('Right'), chunk('Right', true))
  })

  it('goes on from what was said before a restart, and says none of it twice', () => {
    const answer = createAnswer('answer', 'one two')
    assert.equal(answer.become('one two'), undefined)
    assert.deepEqual(answer.become('one two three'), chunk(' three', true))
  })

  it('begins anew where another run took it up, though the texts begin alike', () => {
    const answer = createAnswer('answer', 'one two')
    answer.restart()
    assert.equal(answer.text(), '')
    assert.deepEqual(answer.become('one'), chunk('one', false))
    assert.deepEqual(answer.become('one two'), chunk(' two', true))
  })

  it('is no artifact if nothing was said', () => {
    const answer = createAnswer('answer')
    assert.equal(answer.become(''), undefined)
    assert.equal(answer.close(), undefined)
  })

  it('takes a warning along', () => {
    const warning = { warning: 'seq gap' }
    assert.deepEqual(createAnswer('answer').become('one', warning), { ...chunk('one', false), metadata: warning })
  })
})

describe('the items of an answer', () => {
  it('are joined as the gateway joins them', () => {
    const items = createItems()
    assert.equal(items.read({ itemId: 'a:1', text: 'Let me', delta: 'Let me' }).whole, 'Let me')
    assert.equal(items.read({ itemId: 'a:1', text: 'Let me see.', delta: ' see.' }).whole, 'Let me see.')
    assert.equal(items.read({ itemId: 'a:2', text: 'It', delta: 'It' }).whole, 'Let me see.\n\nIt')
  })

  it('hold all of their text in each event, so that a lost one does no harm', () => {
    const items = createItems()
    items.read({ itemId: 'a:1', text: 'one', delta: 'one' })
    assert.deepEqual(items.read({ itemId: 'a:1', text: 'one two three', delta: ' three' }), {
      whole: 'one two three',
      isGuess: false,
    })
  })

  it('are put together from what is new where that is all there is', () => {
    const items = createItems()
    items.read({ delta: 'one' })
    assert.deepEqual(items.read({ delta: ' two' }), { whole: 'one two', isGuess: true })
  })

  it('may be taken back', () => {
    const items = createItems()
    items.read({ itemId: 'a:1', text: 'Wrong', delta: 'Wrong' })
    assert.equal(items.read({ itemId: 'a:1', text: '', delta: '', replace: true }).whole, '')
  })

  it('are what was said, if the end says the last of them or nothing', () => {
    const items = createItems()
    items.read({ itemId: 'a:1', text: 'First.' })
    items.read({ itemId: 'a:2', text: 'Second. ' })
    assert.equal(items.concluded('Second.'), 'First.\n\nSecond. ')
    assert.equal(items.concluded(''), 'First.\n\nSecond. ')
  })

  it('end with what the end says, if that is something else', () => {
    const items = createItems()
    items.read({ itemId: 'a:1', text: 'First.' })
    items.read({ itemId: 'a:2', text: 'Sec' })
    assert.equal(items.concluded('Another.'), 'First.\n\nAnother.')
    assert.equal(createItems().concluded('All at once.'), 'All at once.')
  })
})
