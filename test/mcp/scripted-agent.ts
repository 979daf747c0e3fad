/** An agent that does what its text says: each verb is one way in which agents behave. */
import { setTimeout as sleep } from 'node:timers/promises'
import { artifact, authRequired, data, fail, file, inputRequired, reject, reply, status } from '@parley/a2a'
import type { Report, Turn } from '@parley/a2a'

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const form = {
  type: 'object',
  properties: {
    name: { type: 'string', title: 'Your name' },
    size: { type: 'string', enum: ['small', 'large'] },
    count: { type: 'integer' },
  },
  required: ['name', 'size'],
}

export const agent = {
  resume: 'rerun',
  async *run(turn: Turn): AsyncGenerator<Report> {
    const { text, signal, lastCheckpoint, message } = turn
    const [verb = '', ...rest] = text.split(' ')
    const words = rest.join(' ')
    if (lastCheckpoint !== undefined) {
      const formData = message.parts.flatMap((part) => ('data' in part ? [part.data] : []))[0]
      yield formData === undefined ? `${text} it is` : `filled in: ${JSON.stringify(formData)}`
      return
    }
    switch (verb) {
      case 'say':
        yield words
        return
      case 'reply':
        yield reply(words)
        return
      case 'steps':
        for (let step = 1; step <= Number(words); step += 1) {
          yield status(`step ${step}`)
          await sleep(150, undefined, { signal })
        }
        yield 'walked'
        return
      case 'long':
        yield status('at it')
        await sleep(600_000, undefined, { signal })
        return
      case 'ask':
        await turn.checkpoint('asked')
        yield inputRequired('Which city?')
        return
      case 'form': {
        await turn.checkpoint('asked')
        const parts = [{ text: 'Please fill this in' }, { data: { requestedSchema: form } }]
        yield inputRequired({ parts })
        return
      }
      case 'secret':
        await turn.checkpoint('asked')
        yield inputRequired('Your PIN?', { sensitive: true })
        return
      case 'open': {
        await turn.checkpoint('asked')
        yield authRequired({ parts: [{ text: 'Please sign in' }, { url: 'https://id.example.com/device' }] })
        return
      }
      case 'auth':
        await turn.checkpoint('asked')
        yield authRequired('Please sign in somewhere')
        return
      case 'endless':
        yield inputRequired('And now?')
        return
      case 'files':
        yield artifact('picture', { parts: [file(pixel, { name: 'dot.png', mediaType: 'image/png' })] })
        yield artifact('sound', { parts: [file(new Uint8Array(16), { mediaType: 'audio/wav' })] })
        yield artifact('note', {
          parts: [file(Buffer.from('a note'), { name: 'note.txt', mediaType: 'text/plain' })],
        })
        yield artifact('bytes', { parts: [file(new Uint8Array([1, 2, 3]), { name: 'three.bin' })] })
        yield artifact('place', { parts: [file('https://example.com/report.pdf', { mediaType: 'application/pdf' })] })
        yield data({ rows: 42 })
        return
      case 'big':
        yield file(new Uint8Array(2_000_000).fill(7), { name: 'big.bin', mediaType: 'application/zip' })
        return
      case 'fail':
        throw new Error('host-7.internal is down')
      case 'sorry':
        yield fail('The printer is out of paper')
        return
      case 'reject':
        yield reject('Not my job')
        return
      case 'who':
        yield `${turn.caller.id} ${turn.tenant} ${String(message.metadata?.['skillId'])}`
        return
      case 'trace':
        yield turn.traceparent
        return
      case 'received':
        yield JSON.stringify(message.parts.slice(1))
        return
      default:
        yield `What is ${text}?`
    }
  },
}
