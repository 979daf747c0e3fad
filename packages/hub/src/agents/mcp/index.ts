/** The kind `mcp`: an MCP server whose tools are the skills of an agent. */
import type { AgentKind, CardPart, KindParts, OpenAgent } from '../kind.ts'
import { mcpAgent } from './agent.ts'
import { openBackend } from './backend.ts'
import { callablesOf, skillsOf } from './callable.ts'
import type { McpAbout, McpConnection } from './connection.ts'
import { mcpEntry } from './entry.ts'
import type { McpEntry } from './entry.ts'

export const mcpKind: AgentKind<McpEntry> = { kind: 'mcp', schema: mcpEntry, openAfterMs: 0, open }

const card = {
  inputModes: ['text/plain', 'application/json'],
  outputModes: ['text/plain', 'application/json', 'application/octet-stream', 'image/*', 'audio/*'],
  streaming: true,
} satisfies CardPart

/** Of what a server says of itself, for a card. */
const descriptionChars = 500

function open(entry: McpEntry, parts: KindParts): OpenAgent {
  const backend = openBackend(entry, parts, parts.lookAgain)
  const seen = async (connection: McpConnection, signal: AbortSignal): Promise<CardPart> => {
    const about = await connection.about(signal)
    const skills = skillsOf(await callablesOf(connection, entry, signal))
    return { ...card, ...cardOf(about), skills }
  }
  return {
    agent: mcpAgent(entry, backend),
    card,
    look: (signal) => backend.look((connection) => seen(connection, signal)),
    health: (signal) => backend.look((connection) => connection.ping(signal)),
    close: () => backend.close(),
  }
}

function cardOf({ name, title, version, description, instructions, websiteUrl, icons = [] }: McpAbout): CardPart {
  const shown = [title, name].find((text) => text !== undefined && text !== '')
  const said = (description ?? firstParagraph(instructions ?? '')).trim().slice(0, descriptionChars)
  const icon = icons.find(({ src }) => isWeb(src))?.src
  return {
    ...(shown !== undefined ? { name: shown } : {}),
    ...(version !== undefined && version !== '' ? { version } : {}),
    ...(said !== '' ? { description: said } : {}),
    ...(websiteUrl !== undefined && isWeb(websiteUrl) ? { documentationUrl: websiteUrl } : {}),
    ...(icon !== undefined ? { iconUrl: icon } : {}),
  }
}

/** Instructions are for models, and may be a book: what comes first after its title says what it is about. */
function firstParagraph(text: string): string {
  return text.split(/\n\s*\n/).find((paragraph) => paragraph.trim() !== '' && !paragraph.trim().startsWith('#')) ?? ''
}

const isWeb = (url: string): boolean => /^https?:\/\//i.test(url)
