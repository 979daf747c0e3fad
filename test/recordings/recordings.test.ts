/**
 * Holds the conversations with a server and with a hub, and compares what they send with the recordings: statuses, headers, bodies,
 * events, gRPC messages. `PARLEY_RECORD=1 npm test -- recordings` writes the recordings anew; a commit that changes them changes
 * what clients see.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type Conversation, openStage, type Stage, transcribe } from './conversation.ts'
import { access } from './conversations/access.ts'
import { cards } from './conversations/cards.ts'
import { errors } from './conversations/errors.ts'
import { listing } from './conversations/listing.ts'
import { push } from './conversations/push.ts'
import { sending } from './conversations/sending.ts'
import { streaming } from './conversations/streaming.ts'
import { transport } from './conversations/transport.ts'
import { openTarget, type TargetName, targetNames } from './targets.ts'

const topics: Readonly<Record<string, readonly Conversation[]>> = {
  sending,
  streaming,
  listing,
  push,
  cards,
  errors,
  access,
  transport,
}

const titles = { server: 'a server', memory: 'a server in memory', hub: 'a hub' }

const isRecording = process.env['PARLEY_RECORD'] === '1'

/** The file of a server is complete. Those of the other targets hold the conversations that differ. */
const fileOf = (topic: string, target: TargetName): string =>
  join(import.meta.dirname, 'recorded', target === 'server' ? `${topic}.txt` : `${topic}.${target}.txt`)

const heading = '=== '
/** Stands for an exchange that is the same as with a server. */
const sameAsServer = '='
const exchangesOf = (transcript: string): readonly string[] => transcript.split('\n\n')

/** Transcripts by the name of their conversation. */
type Transcripts = ReadonlyMap<string, string>

function readFile(topic: string, target: TargetName): Transcripts {
  const file = fileOf(topic, target)
  if (!existsSync(file)) return new Map()
  const blocks = readFileSync(file, 'utf8')
    .split(new RegExp(`^${heading}`, 'm'))
    .slice(1)
  return new Map(
    blocks.map((block) => {
      const [name = '', ...lines] = block.split('\n')
      return [name, lines.join('\n').trimEnd()]
    }),
  )
}

function readRecordings(topic: string, target: TargetName): Transcripts {
  const ofServer = readFile(topic, 'server')
  if (target === 'server') return ofServer
  const differing = [...readFile(topic, target)].map(([name, transcript]) => {
    const same = exchangesOf(ofServer.get(name) ?? '')
    const exchanges = exchangesOf(transcript).map((one, at) => (one === sameAsServer ? same[at] : one))
    return [name, exchanges.join('\n\n')] as const
  })
  return new Map([...ofServer, ...differing])
}

function writeRecordings(
  topic: string,
  target: TargetName,
  conversations: readonly Conversation[],
  transcripts: Transcripts,
): void {
  const ofServer = readFile(topic, 'server')
  const blocks = conversations.flatMap(({ name }) => {
    const transcript = transcripts.get(name)
    if (transcript === undefined) return []
    if (target === 'server') return `${heading}${name}\n${transcript}\n`
    if (transcript === ofServer.get(name)) return []
    const same = exchangesOf(ofServer.get(name) ?? '')
    const exchanges = exchangesOf(transcript).map((one, at) => (one === same[at] ? sameAsServer : one))
    return `${heading}${name}\n${exchanges.join('\n\n')}\n`
  })
  rmSync(fileOf(topic, target), { force: true })
  if (blocks.length > 0) writeFileSync(fileOf(topic, target), blocks.join('\n'))
}

for (const target of targetNames) {
  // A store decides how many reports one write holds, so it may differ from SQLite.
  const set = target === 'memory' ? ' [full]' : ''
  describe(`${titles[target]} responds as recorded${set}`, () => {
    let stage: Stage
    before(async () => {
      stage = await openStage(await openTarget(target))
    })
    after(() => stage.close())

    for (const [topic, conversations] of Object.entries(topics)) {
      describe(topic, () => {
        const recorded = readRecordings(topic, target)
        // A conversation that a name pattern leaves out keeps its recording.
        const transcripts = new Map(recorded)
        for (const conversation of conversations) {
          const { name } = conversation
          it(name, async () => {
            const transcript = await transcribe(conversation, stage)
            transcripts.set(name, transcript)
            if (isRecording) return
            const expected = recorded.get(name) ?? assert.fail('there is no recording: PARLEY_RECORD=1 writes one')
            assertSame(transcript, expected)
          })
        }
        after(() => isRecording && writeRecordings(topic, target, conversations, transcripts))
      })
    }
  })
}

/** Shows the first exchange that differs, with the JSON of a line in lines of its own. */
function assertSame(actual: string, expected: string): void {
  if (actual === expected) return
  const others = exchangesOf(expected)
  const [at, exchange] = [...exchangesOf(actual).entries()].find(([index, one]) => one !== others[index]) ?? [0, actual]
  assert.equal(inLines(exchange), inLines(others[at] ?? expected))
  assert.equal(actual, expected)
}

function inLines(transcript: string): string {
  return transcript.replaceAll(/^([<>!] (?:data: |grpc-status-details-bin: )?)(\{.*\})$/gm, (line, mark, json) => {
    try {
      return String(mark) + JSON.stringify(JSON.parse(json), undefined, 2)
    } catch {
      return line
    }
  })
}

it('every recording is of a conversation', () => {
  for (const [topic, conversations] of Object.entries(topics)) {
    const names = new Set(conversations.map(({ name }) => name))
    assert.equal(names.size, conversations.length, `two conversations of ${topic} have the same name`)
    for (const target of targetNames)
      for (const name of readFile(topic, target).keys()) assert.ok(names.has(name), `${topic}: ${name}`)
  }
})
