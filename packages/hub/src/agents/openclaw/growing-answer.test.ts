import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createGrowingAnswer, createAnswerItems } from './growing-answer.ts'

const chunk = (text: string, append: boolean): object => ({
  artifact: { artifactId: 'answer', parts: [{ text }] },
  ...(append ? { append: true } : {}),
})

describe('an answer', () => {
  it('is reported in chunks as it grows', () => {
    const answer = createGrowingAnswer('answer')
    assert.deepEqual(answer.update('one'), chunk('one', false))
    assert.deepEqual(answer.update('one two'), chunk(' two', true))
    assert.equal(answer.update('one two'), undefined)
    assert.deepEqual(answer.close(), { ...chunk('', true), lastChunk: true })
  })

  it('begins anew when it has become another', () => {
    const answer = createGrowingAnswer('answer')
    answer.update('Wrong words')
    assert.deepEqual(answer.update(''), chunk('', false))
    assert.deepEqual(answer.update('Right'), chunk('Right', true))
  })

  it('goes on from what was said before a restart, and says none of it twice', () => {
    const answer = createGrowingAnswer('answer', 'one two')
    assert.equal(answer.update('one two'), undefined)
    assert.deepEqual(answer.update('one two three'), chunk(' three', true))
  })

  it('begins anew where another run took it up, though the texts begin alike', () => {
    const answer = createGrowingAnswer('answer', 'one two')
    answer.restart()
    assert.equal(answer.text(), '')
    assert.deepEqual(answer.update('one'), chunk('one', false))
    assert.deepEqual(answer.update('one two'), chunk(' two', true))
  })

  it('is no artifact if nothing was said', () => {
    const answer = createGrowingAnswer('answer')
    assert.equal(answer.update(''), undefined)
    assert.equal(answer.close(), undefined)
  })

  it('takes a warning along', () => {
    const warning = { warning: 'seq gap' }
    assert.deepEqual(createGrowingAnswer('answer').update('one', warning), {
      ...chunk('one', false),
      metadata: warning,
    })
  })
})

describe('the items of an answer', () => {
  it('are joined as the gateway joins them', () => {
    const items = createAnswerItems()
    assert.equal(items.read({ itemId: 'a:1', text: 'Let me', delta: 'Let me' }).whole, 'Let me')
    assert.equal(items.read({ itemId: 'a:1', text: 'Let me see.', delta: ' see.' }).whole, 'Let me see.')
    assert.equal(items.read({ itemId: 'a:2', text: 'It', delta: 'It' }).whole, 'Let me see.\n\nIt')
  })

  it('hold all of their text in each event, so that a lost one does no harm', () => {
    const items = createAnswerItems()
    items.read({ itemId: 'a:1', text: 'one', delta: 'one' })
    assert.deepEqual(items.read({ itemId: 'a:1', text: 'one two three', delta: ' three' }), {
      whole: 'one two three',
      isGuess: false,
    })
  })

  it('are put together from what is new where that is all there is', () => {
    const items = createAnswerItems()
    items.read({ delta: 'one' })
    assert.deepEqual(items.read({ delta: ' two' }), { whole: 'one two', isGuess: true })
  })

  it('may be taken back', () => {
    const items = createAnswerItems()
    items.read({ itemId: 'a:1', text: 'Wrong', delta: 'Wrong' })
    assert.equal(items.read({ itemId: 'a:1', text: '', delta: '', replace: true }).whole, '')
  })

  it('are what was said, if the end says the last of them or nothing', () => {
    const items = createAnswerItems()
    items.read({ itemId: 'a:1', text: 'First.' })
    items.read({ itemId: 'a:2', text: 'Second. ' })
    assert.equal(items.finalText('Second.'), 'First.\n\nSecond. ')
    assert.equal(items.finalText(''), 'First.\n\nSecond. ')
  })

  it('end with what the end says, if that is something else', () => {
    const items = createAnswerItems()
    items.read({ itemId: 'a:1', text: 'First.' })
    items.read({ itemId: 'a:2', text: 'Sec' })
    assert.equal(items.finalText('Another.'), 'First.\n\nAnother.')
    assert.equal(createAnswerItems().finalText('All at once.'), 'All at once.')
  })
})
