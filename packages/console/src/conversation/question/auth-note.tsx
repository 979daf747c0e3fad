/** A task that waits for credentials: what it needs, where to get it, and what happens then. */
import { Icon } from '../../components/icon.tsx'
import type { AgentQuestion, AuthScheme } from './parse-question.ts'

export interface AuthNoteProps {
  readonly question: AgentQuestion
  readonly agent: string
  /** Another caller has to sign in. */
  readonly isReadOnly?: boolean
}

export function AuthNote({ question, agent, isReadOnly = false }: AuthNoteProps) {
  const { schemes, links } = question
  return (
    <div class="stack-small auth-note">
      <h3>
        <Icon name="key" /> {agent} requires authentication
      </h3>
      {schemes.length > 0 && (
        <ul>
          {schemes.map((scheme) => (
            <SchemeLine key={scheme.name} scheme={scheme} />
          ))}
        </ul>
      )}
      {(isReadOnly ? [] : links).map((link) => (
        <p key={link}>
          <a href={link} target="_blank" rel="noopener noreferrer">
            Sign in at {new URL(link).host || link}
          </a>
        </p>
      ))}
      {!isReadOnly && <p class="hint">{authHint(question)}</p>}
    </div>
  )
}

function authHint({ isInBand, links, schemes }: AgentQuestion): string {
  if (isInBand)
    return 'Enter the credentials below; the task resumes immediately. The agent receives them, and the hub stores only a placeholder.'
  const hasLink = links.length > 0 || schemes.some(({ link }) => link !== undefined)
  return hasLink
    ? 'Sign in using the link above. The task resumes automatically, or when you send it a message.'
    : 'Sign in as described above. The task resumes automatically, or when you send it a message.'
}

function SchemeLine({ scheme }: { readonly scheme: AuthScheme }) {
  const { name, what, description, link } = scheme
  return (
    <li>
      <strong>{name}</strong>: {what}
      {description !== undefined && <> · {description}</>}
      {link !== undefined && (
        <>
          {' '}
          <a href={link} target="_blank" rel="noopener noreferrer">
            {new URL(link).host}
          </a>
        </>
      )}
    </li>
  )
}
