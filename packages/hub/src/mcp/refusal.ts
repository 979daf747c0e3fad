/** What a request to `/mcp` is refused with before any tool is asked: an error of JSON-RPC under a status of HTTP. */
export function refusal(
  status: number,
  message: string,
  code = -32_000,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status, headers })
}
