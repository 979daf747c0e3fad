/** A task that waits for credentials: what it needs, where to get it, and what happens then. */
import { Icon } from '../../components/icon.tsx'
import type { AgentQuestion, AuthScheme } from './parse-question.ts'

export function AuthNote({ question, agent }: { readonly question: AgentQuestion; readonly agent: string }) {
  const { schemes, links, isInBand } = question
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
      {links.map((link) => (
        <p key={link}>
          <a href={link} target="_blank" rel="noopener noreferrer">
            Sign in at {new URL(link).host || link}
          </a>
        </p>
      ))}
      <p class="hint">
        {isInBand
          ? 'Enter the credentials below; the task resumes immediately. The agent receives them, and the hub stores only a placeholder.'
          : 'Sign in as described above, not on this page. The task resumes automatically after you sign in, or when you send it a message.'}
      </p>
    </div>
  )
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
