/** The reference server of MCP, which does a little of everything: as a program, and at an address. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { freePort } from '../free-port.ts'
import { testAgentServices } from '../../packages/hub/src/agents/testing/test-agent-services.ts'

const script = join(import.meta.dirname, '../../node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const { programEnv } = testAgentServices()

export const everythingCommand = [process.execPath, script] as const

export interface EverythingServer {
  readonly url: string
  readonly port: number
  stop(): Promise<void>
}

export async function startEverythingServer(t: TestContext, port?: number): Promise<EverythingServer> {
  const free = port ?? (await freePort())
  const child = spawn(process.execPath, [script, 'streamableHttp'], { env: { ...programEnv, PORT: String(free) } })
  const stop = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  t.after(stop)
  for await (const chunk of child.stderr) if (String(chunk).includes('listening')) break
  child.stderr.resume()
  return { url: `http://127.0.0.1:${free}/mcp`, port: free, stop }
}
