/** Opens an agent of the kind `mcp`. Loaded with the first of them. */
import type { PartialCard, AgentServices, OpenAgent } from '../kind.ts'
import { mcpAgent } from './agent.ts'
import { openMcpBackend } from './backend.ts'
import { listCallables, callableSkills } from './callable.ts'
import type { McpServerInfo, McpConnection } from './connection.ts'
import { type McpEntry } from './server.ts'

const card = {
  inputModes: ['text/plain', 'application/json'],
  outputModes: ['text/plain', 'application/json', 'application/octet-stream', 'image/*', 'audio/*'],
  streaming: true,
} satisfies PartialCard

/** Limit of the description in the card. */
const descriptionChars = 500

export function openMcpAgent(entry: McpEntry, services: AgentServices): OpenAgent {
  const backend = openMcpBackend(entry, services, services.refreshCard)
  const seen = async (connection: McpConnection, signal: AbortSignal): Promise<PartialCard> => {
    const about = await connection.serverInfo(signal)
    const skills = callableSkills(await listCallables(connection, entry, signal))
    return { ...card, ...cardOf(about), skills }
  }
  return {
    agent: mcpAgent(entry, backend),
    card,
    fetchCard: (signal) => backend.inspect((connection) => seen(connection, signal)),
    health: (signal) => backend.inspect((connection) => connection.ping(signal)),
    close: () => backend.close(),
  }
}

function cardOf({
  name,
  title,
  version,
  description,
  instructions,
  websiteUrl,
  icons = [],
}: McpServerInfo): PartialCard {
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

/** Instructions are written for models and may be long. The first paragraph after the title is used as the description. */
function firstParagraph(text: string): string {
  return text.split(/\n\s*\n/).find((paragraph) => paragraph.trim() !== '' && !paragraph.trim().startsWith('#')) ?? ''
}

const isWeb = (url: string): boolean => /^https?:\/\//i.test(url)
