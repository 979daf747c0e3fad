/** Agents that delegate to one another, for the pages that show it: the first word selects what the front does. */

/** Delegates as the first word selects, and reports the result. */
const front = `
const first = async (turn) => ((await turn.history())[0]?.parts ?? []).map((part) => part.text ?? '').join('')
async function* run(turn, { delegate }) {
  const said = await first(turn)
  const [how, ...rest] = said.split(' ')
  const text = rest.join(' ')
  if (how === 'report') {
    const draft = yield* delegate({ agent: 'writer', message: text })
    const one = yield* delegate({ agent: 'checker', message: 'facts of ' + draft.text, artifacts: false })
    const two = yield* delegate({ agent: 'checker', message: 'words of ' + draft.text, artifacts: false })
    yield 'Checked: ' + one.text + two.text
    return
  }
  if (how === 'break') {
    yield* delegate({ agent: 'broken', message: text })
    return
  }
  if (how === 'try') {
    try {
      yield* delegate({ agent: 'broken', message: text })
    } catch {
      yield 'It went wrong, and I know.'
    }
    return
  }
  if (how === 'many') {
    for (let n = 0; n < Number(rest[0]); n += 1) yield* delegate({ agent: 'wide', message: 'spans 900', artifacts: false })
    yield 'done'
    return
  }
  if (how === 'wait') {
    yield* delegate({ agent: 'endless', message: text })
    return
  }
  if (how === 'ask') {
    const { text: answer } = yield* delegate({ agent: 'asker', message: text })
    yield answer
    return
  }
  yield said
}
export default { resume: 'rerun', run }
`

/** Looks something up, calls the model, and writes. */
const writer = `
async function* run(turn, { delegate }) {
  const span = turn.span('execute_tool search', { kind: 'tool', attributes: { 'gen_ai.tool.name': 'search' } })
  await new Promise((resolve) => setTimeout(resolve, 40))
  span.end('ok')
  const said = yield* delegate({ agent: 'gpt', message: turn.text, artifacts: false })
  yield { artifact: { artifactId: 'report', parts: [{ text: said.text }] } }
}
export default { resume: 'rerun', run }
`

const checker = `
export default async function* (turn) {
  const span = turn.span('look closely')
  await new Promise((resolve) => setTimeout(resolve, 25))
  span.end('ok')
  yield 'fine. '
}
`

const broken = `
export default function () {
  throw new Error('a secret of ours')
}
`

const endless = `
export default async function* ({ signal }) {
  yield { state: 'TASK_STATE_WORKING', message: { parts: [{ text: 'At it' }] } }
  await new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason)))
}
`

const asker = `
export default async function* ({ text, history }) {
  if ((await history()).length === 1) {
    return yield { state: 'TASK_STATE_INPUT_REQUIRED', message: { parts: [{ text: 'Which city?' }] } }
  }
  yield 'About ' + text
}
`

/** As many spans as requested, some nested, one of them failed; and as many events. */
const wide = `
export default async function* (turn) {
  const count = Number(turn.text.split(' ')[1])
  let parent
  for (let n = 0; n < count; n += 1) {
    const options = { kind: 'tool', attributes: { 'gen_ai.tool.name': 'step-' + n } }
    const span = turn.span('execute_tool step-' + n, parent === undefined ? options : { ...options, parent })
    span.end(n === count - 1 ? 'error' : 'ok')
    if (n % 10 === 0) parent = span
    if (n % 20 === 0) yield 'word '
  }
  yield 'done'
}
`

export const delegatingFiles = {
  'front.ts': front,
  'writer.ts': writer,
  'checker.ts': checker,
  'broken.ts': broken,
  'endless.ts': endless,
  'asker.ts': asker,
  'wide.ts': wide,
}

const module = (name: string, description: string) => ({ kind: 'module', path: `./${name}.ts`, description })

export const delegatingAgents = {
  front: module('front', 'Hands work on.'),
  writer: module('writer', 'Writes reports.'),
  checker: module('checker', 'Checks what others wrote.'),
  broken: module('broken', 'Fails.'),
  endless: module('endless', 'Never ends by itself.'),
  asker: module('asker', 'Asks for input.'),
  wide: module('wide', 'Does a lot.'),
}

/** For a million tokens. */
export const prices = { 'some-model': { input: 250, output: 1_000 } }
