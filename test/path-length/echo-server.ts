/** A server with one agent that is a function, in the process that is measured. */
import { send, startCounting } from './touched-files.ts'

await startCounting()
const { serve } = await import('@parley/a2a/node')
const { memoryStore } = await import('@parley/a2a')
const log = { debug() {}, info() {}, warn() {}, error() {} }
const agent = ({ text }: { readonly text: string }) => `You said: ${text}`
const server = await serve({ name: 'Echo', agent, store: memoryStore(), port: 0, log })
send({ url: server.url })
