import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addAttachments, fileParts, maxAttachmentBytes, parseDataPart } from './attachments.ts'
import { grpcurlCommand } from '../grpcurl.ts'

const file = (name: string, size: number): File =>
  new File([new Uint8Array(size)], name, { type: 'text/plain', lastModified: 1 })

describe('files of a message', () => {
  it('are added once each, up to the limits of the hub', () => {
    const one = file('a.txt', 10)
    const { files, refused } = addAttachments(
      [one],
      [file('a.txt', 10), file('b.txt', maxAttachmentBytes), file('c.txt', 5)],
    )
    assert.deepEqual(
      files.map(({ name }) => name),
      ['a.txt', 'c.txt'],
    )
    assert.deepEqual(refused, ['b.txt (14.0 MB): the files of a message can have at most 14.0 MB.'])
    assert.equal(
      addAttachments(
        [],
        Array.from({ length: 25 }, (_, index) => file(`${index}`, 1)),
      ).refused.length,
      5,
    )
  })

  it('become raw parts with name and type', async () => {
    assert.deepEqual(await fileParts([new File(['hello'], 'a.txt', { type: 'text/plain' })]), [
      { raw: 'aGVsbG8=', filename: 'a.txt', mediaType: 'text/plain' },
    ])
  })
})

describe('data of a message', () => {
  it('is JSON, an error, or undefined', () => {
    assert.equal(parseDataPart('  '), undefined)
    assert.deepEqual(parseDataPart('null'), { data: null })
    assert.match((parseDataPart('{') as { mistake: string }).mistake, /JSON/)
  })
})

describe('gRPC from a shell', () => {
  it('names the service of the version, the agent and the address', () => {
    const call = {
      agent: 'talker',
      isOpen: false,
      address: 'grpc://127.0.0.1:3001',
      version: '1.0',
      text: "it's",
      isStreamed: true,
      hasTls: false,
    } as const
    const command = grpcurlCommand(call)
    assert.match(command, /^grpcurl -plaintext/)
    assert.match(command, /-H "authorization: Bearer \$PARLEY_KEY"/)
    assert.doesNotMatch(grpcurlCommand({ ...call, isOpen: true }), /authorization/)
    assert.match(command, /-H 'x-parley-agent: talker'/)
    assert.match(command, /127\.0\.0\.1:3001 lf\.a2a\.v1\.A2AService\/SendStreamingMessage$/)
    assert.ok(command.includes(String.raw`"text":"it'\''s"`))
    assert.match(grpcurlCommand({ ...call, version: '0.3' }), /"content":.* a2a\.v1\.A2AService/s)
  })
})
