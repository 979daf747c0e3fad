import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { adminCurl, fillMessageId, messageIdPlaceholder, shellQuote, sendMessageCurl } from './curl.ts'

describe('a curl command', () => {
  it('is one argument, whatever the text', () => {
    const odd = `it's "odd" $HOME \`ls\` \\ ; &`
    assert.equal(execFileSync('sh', ['-c', `printf %s ${shellQuote(odd)}`], { encoding: 'utf8' }), odd)
  })

  it('names the variable of the key, not the key', () => {
    assert.equal(
      adminCurl('http://127.0.0.1:3000', '/admin/tasks?text=a'),
      `curl -H "Authorization: Bearer $PARLEY_ADMIN_KEY" 'http://127.0.0.1:3000/admin/tasks?text=a'`,
    )
  })

  it('sends a message that an agent understands', () => {
    assert.match(sendMessageCurl('http://h', { name: 'a b', isOpen: true }), /'http:\/\/h\/a2a\/a%20b' \\\n/)
    const echo = sendMessageCurl('http://h', { name: 'a', isOpen: true }).replace(/^curl .* -d/s, 'printf %s')
    const body = JSON.parse(execFileSync('sh', ['-c', echo], { encoding: 'utf8' }))
    assert.equal(body.params.message.parts[0].text, 'Hello')
    assert.match(body.params.message.messageId, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i)
  })

  it('has a key only for an agent that requires one', () => {
    assert.match(
      sendMessageCurl('http://h', { name: 'a', isOpen: false }),
      /-H "Authorization: Bearer \$PARLEY_KEY" \\\n/,
    )
    assert.doesNotMatch(sendMessageCurl('http://h', { name: 'a', isOpen: true }), /Authorization/)
  })
})

it('has a new message id each time a shell runs the command', () => {
  const request = JSON.stringify({ messageId: messageIdPlaceholder, text: messageIdPlaceholder })
  const command = `printf %s '${fillMessageId(request)}'`
  const run = () => JSON.parse(execFileSync('sh', ['-c', command], { encoding: 'utf8', stdio: 'pipe' }))
  const [one, two] = [run(), run()]
  assert.match(one.messageId, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i)
  assert.notEqual(one.messageId, two.messageId)
  assert.equal(one.text, messageIdPlaceholder, 'what a person wrote stays as it is')
})
