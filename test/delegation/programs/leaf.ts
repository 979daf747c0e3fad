/**
 * The last agent of a tree, as a program: asks and waits until it is released, or works until it is stopped. `BENCH` is a
 * folder that it shares with the test.
 */
import { existsSync, renameSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

interface ProgramInput {
  readonly text: string
  readonly state?: { readonly name: string }
}

const bench = process.env['BENCH'] ?? '.'
/** Complete when it appears. */
const put = (name: string, text = ''): void => {
  writeFileSync(join(bench, `${name}.part`), text)
  renameSync(join(bench, `${name}.part`), join(bench, name))
}
const line = (said: object): void => void process.stdout.write(`${JSON.stringify(said)}\n`)

function appears(name: string): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(bench, look)
    look()
    function look(): void {
      if (!existsSync(join(bench, name))) return
      watcher.close()
      resolve()
    }
  })
}

for await (const input of createInterface({ input: process.stdin })) {
  const { text, state } = JSON.parse(input) as ProgramInput
  const [how, name = ''] = text.split(' ')
  if (state !== undefined) {
    line({ type: 'status', text: `Painting ${state.name}` })
    put(`answered-${state.name}`, text)
    await appears('released')
    line({ type: 'assistant', text: `${state.name} is ${text}` })
    line({ type: 'done' })
  } else if (how === 'ask') {
    line({ type: 'input_required', text: `Which colour for ${name}?`, state: { name } })
  } else {
    process.once('SIGTERM', () => {
      put(`stopped-${name}`)
      process.exit(0)
    })
    put(`begun-${name}`, String(process.pid))
    await new Promise(() => setInterval(() => {}, 1_000))
  }
}
