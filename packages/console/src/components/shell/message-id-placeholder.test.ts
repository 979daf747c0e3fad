import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { it } from 'node:test'
import { fillMessageId, messageIdPlaceholder } from './message-id-placeholder.ts'

it('is a new UUID each time a shell runs the command, and only where the id stands', () => {
  const request = JSON.stringify({ messageId: messageIdPlaceholder, text: messageIdPlaceholder })
  const command = `printf %s '${fillMessageId(request)}'`
  const run = () => JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: 'pipe' }))
  const [one, two] = [run(), run()]
  assert.match(one.messageId, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i)
  assert.notEqual(one.messageId, two.messageId)
  assert.equal(one.text, messageIdPlaceholder, 'what a person wrote stays as it is')
})
