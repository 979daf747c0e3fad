/** Why no agent was found at a URL: one request, as a browser would make it, explains what all detectors met. */
import { createTimeLimit, targetUrl, type Diagnose } from './detect.ts'
import { requiresAuthentication, type Diagnosis } from './diagnosis.ts'

const certificateErrors: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'The certificate has expired',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is for another host',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is not trusted',
  SELF_SIGNED_CERT_IN_CHAIN: 'The certificate is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'The certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'The certificate is not trusted',
  UNABLE_TO_GET_ISSUER_CERT: 'The certificate is not trusted',
}

/** Requests the URL once. `undefined` if the request explains nothing, such as an unknown error. */
export function diagnoseUrl(limitMs: number): Diagnose {
  return async (target, { fetch, signal, token }) => {
    const url = targetUrl(target)
    if (url === undefined) return undefined
    const address = new URL(url.href.replace(/^ws/i, 'http'))
    const limit = createTimeLimit(limitMs, signal)
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token.value}` }
    try {
      const response = await fetch(address, { signal: limit.signal, headers: { accept: '*/*', ...authorization } })
      await response.body?.cancel()
      return diagnoseResponse(response)
    } catch (reason) {
      return limit.diagnosis ?? diagnoseError(reason, address)
    }
  }
}

function diagnoseResponse({ status, headers }: Response): Diagnosis {
  if (status === 401 || status === 403) return requiresAuthentication(status)
  const type = headers.get('content-type') ?? ''
  if (status < 400 && /^(text\/html|application\/xhtml)/i.test(type)) {
    return {
      code: 'web-page',
      title: 'This is a web page, not an agent',
      advice: 'Use the URL of the agent itself, or of its agent card. Its documentation names it.',
    }
  }
  return {
    code: 'not-an-agent',
    title: 'The server responds, but not as an agent',
    advice: 'Check the path of the URL. An MCP server is often at /mcp, an OpenAI-compatible API at /v1.',
    cause: `HTTP ${status}`,
  }
}

/** Errors of fetch are wrapped; the innermost has the code of the system. */
function diagnoseError(reason: unknown, { hostname, port, protocol }: URL): Diagnosis | undefined {
  const { code, message } = systemError(reason)
  const number = port === '' ? (protocol === 'https:' ? '443' : '80') : port
  const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname)
  const certificate = certificateErrors[code]
  if (certificate !== undefined) {
    return {
      code: 'untrusted-certificate',
      title: certificate,
      advice: 'Renew it, or start the hub with NODE_EXTRA_CA_CERTS set to the certificate of your authority.',
      cause: message,
    }
  }
  switch (code) {
    case 'ECONNREFUSED':
      return {
        code: 'not-listening',
        title: `Nothing is listening on port ${number}${isLocal ? '' : ` of ${hostname}`}`,
        advice: 'Start the agent, or check the host and the port.',
        cause: message,
      }
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        code: 'host-not-found',
        title: `Host not found: ${hostname}`,
        advice: 'Check the spelling, and that the hub can resolve the name.',
        cause: message,
      }
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
    case 'EPROTO':
      return {
        code: 'no-tls',
        title: `Port ${number} does not use TLS`,
        advice: 'Use http:// instead of https://.',
        cause: message,
      }
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
    case 'ETIMEDOUT':
    case 'UND_ERR_CONNECT_TIMEOUT':
      return {
        code: 'unreachable',
        title: `${hostname} cannot be reached`,
        advice: 'Check the network and the firewall between the hub and the agent.',
        cause: message,
      }
    case 'ECONNRESET':
    case 'UND_ERR_SOCKET':
    case 'HPE_INVALID_CONSTANT':
      return {
        code: 'tls-required',
        title: 'The server closed the connection',
        advice:
          protocol === 'http:'
            ? 'If it uses TLS, use https:// instead of http://.'
            : 'Check the URL and the log of the server.',
        cause: message,
      }
    default:
      return undefined
  }
}

function systemError(reason: unknown): { readonly code: string; readonly message: string } {
  let at: unknown = reason
  while (at instanceof Error && at.cause instanceof Error) at = at.cause
  const { code = '', errors } = at as { readonly code?: string; readonly errors?: readonly Error[] }
  // For a host with several addresses, each has an error of its own.
  const message = (at instanceof Error && at.message !== '' ? at : errors?.[0])?.message ?? String(at)
  return { code, message }
}
