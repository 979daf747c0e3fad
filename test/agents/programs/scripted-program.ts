/**
 * A program that is an agent of the hub: answers, works, fails, remembers and asks for input as the message says, in JSON lines or in
 * plain text, for one message or for many. `BENCH` is a folder that it shares with the test.
 */
import { existsSync, readFileSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

interface ProgramInput {
  readonly text: string
  readonly state?: { readonly asked?: boolean }
}

const { BENCH = '.', PROTOCOL = 'jsonl', A2A_SESSION = '' } = process.env
const marker = (name: string): string => join(BENCH, name)
const line = (said: object): void => void process.stdout.write(`${JSON.stringify(said)}\n`)
const isKept = process.argv[2] === 'keep'
let memory: string | undefined

function assistant(text: string): void {
  if (PROTOCOL === 'jsonl') line({ type: 'assistant', text })
  else process.stdout.write(text)
}

function released(): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(BENCH, look)
    look()
    function look(): void {
      if (!existsSync(marker('released'))) return
      watcher.close()
      resolve()
    }
  })
}

const remembered = (): string => {
  if (isKept) return memory ?? 'nothing'
  const file = marker(`memory-${A2A_SESSION}`)
  return existsSync(file) ? readFileSync(file, 'utf8') : 'nothing'
}

async function answer({ text, state }: ProgramInput): Promise<void> {
  const [verb, word = ''] = text.trim().split(' ')
  if (state?.asked === true) return assistant(`${text} it is`)
  if (verb === 'long') {
    process.once('SIGTERM', () => {
      writeFileSync(marker('stopped'), '')
      process.exit(0)
    })
    writeFileSync(marker('begun'), String(process.pid))
    await new Promise(() => setInterval(() => {}, 1_000))
  } else if (verb === 'fail') {
    console.error('host-7 is down')
    process.exit(3)
  } else if (verb === 'remember') {
    memory = word
    if (!isKept) writeFileSync(marker(`memory-${A2A_SESSION}`), word)
    assistant('noted')
  } else if (verb === 'recall') assistant(remembered())
  else if (verb === 'ask') line({ type: 'input_required', text: 'Which city?', state: { asked: true } })
  else if (verb === 'slow') {
    assistant('one ')
    writeFileSync(marker('begun'), String(process.pid))
    await released()
    assistant('two ')
    assistant('three')
  } else {
    assistant('you ')
    // Each in a chunk of its own: the pipe joins what is written in one go.
    await new Promise((resolve) => setTimeout(resolve, 20))
    assistant('said ')
    await new Promise((resolve) => setTimeout(resolve, 20))
    assistant(`${word}.`)
  }
}

if (PROTOCOL === 'jsonl') {
  for await (const input of createInterface({ input: process.stdin })) {
    const request = JSON.parse(input) as ProgramInput
    await answer(request)
    if (request.text !== 'ask') line({ type: 'done' })
  }
} else if (isKept) {
  for await (const text of createInterface({ input: process.stdin })) {
    if (text === '') continue
    await answer({ text })
    process.stdout.write('\n\n')
  }
} else {
  let text = ''
  for await (const chunk of process.stdin) text += String(chunk)
  await answer({ text })
}
