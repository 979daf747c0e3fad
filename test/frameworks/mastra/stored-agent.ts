/** An agent of Mastra that is registered with durable storage: LibSQL in a file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Mastra } from '@mastra/core'
import { Agent } from '@mastra/core/agent'
import { LibSQLStore } from '@mastra/libsql'
import { Memory } from '@mastra/memory'
import { type Script, calls, scriptedModel } from '../ai-sdk/scripted-model.ts'

type Configuration = Omit<ConstructorParameters<typeof Agent>[0], 'id' | 'name' | 'model' | 'instructions'>

/** Mastra reuses the result of an earlier call with the same id, so each call has its own. */
export function callsOnce(tool: string, input: object): ReturnType<typeof calls> {
  return calls(tool, input, `call-${crypto.randomUUID()}`)
}

/** The agent with a memory, over the database in a folder. */
export function storedAgent(
  folder: string,
  script: Script,
  configuration: Configuration = { memory: new Memory({ options: { lastMessages: 20 } }) },
): Agent {
  const agent = new Agent({
    id: 'tested',
    name: 'Tested',
    instructions: 'Answer.',
    // Mastra declares that `doGenerate` of a model streams, which that of no provider does.
    model: scriptedModel(script) as never,
    ...configuration,
  })
  const storage = new LibSQLStore({ id: 'storage', url: `file:${join(folder, 'mastra.db')}` })
  return new Mastra({ agents: { agent }, storage, logger: false }).getAgent('agent')
}

/** A folder for a database. */
export function databaseFolder(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), 'parley-mastra-'))
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
