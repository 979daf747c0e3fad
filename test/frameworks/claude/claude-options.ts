/** Options of the SDK for tests: the real program against a model on loopback, with no tool, setting or file of this machine. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Options } from '@anthropic-ai/claude-agent-sdk'
import { mockModel } from './messages-api.ts'

/** A folder for the transcripts and the work of the program. */
export function openFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'parley-claude-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 5 }) }
}

export function offlineOptions(modelUrl: string, folder: string): Options {
  return {
    model: mockModel,
    cwd: folder,
    tools: [],
    env: {
      PATH: process.env['PATH'],
      HOME: folder,
      CLAUDE_CONFIG_DIR: join(folder, '.claude'),
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    },
  }
}

/** The ids of the programs that the processes under a test start, which live on when those are killed. */
export function processList(testProcess: number): string {
  return join(tmpdir(), `parley-claude-processes-${testProcess}`)
}
