import { manage, useAppId } from '../../shared/manage.ts'
import { Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { ApiToolForm } from './api-tool-form.tsx'
import { useParts } from './data.ts'
import { FrontendActionForm, McpServerForm, ToolForm } from './part-forms.tsx'
import { Parts } from './parts.tsx'

/** What agents can use, besides words. */
export function Toolbox() {
  const { apiTools, mcpServers, frontendActions, agentTools } = manage.app(useAppId())
  const parts = useParts()
  if (!parts.data) {
    return parts.error ? <Problem error={parts.error} retry={parts.refetch} /> : <Skeleton />
  }
  const { api, mcp, actions, tools } = parts.data
  return (
    <div className="stack">
      <Parts
        title="API tools"
        about="HTTP calls to your own or other services. The model fills in the parameters."
        what="API tool"
        parts={api}
        show={({ slug, name, description, method, endpoint }) => ({
          ...{ id: slug, name: name ?? slug },
          about: (
            <>
              {description} <code>{method}</code> <code>{endpoint}</code>
            </>
          ),
        })}
        remove={(id) => apiTools.delete(id)}
        form={(tool, onDone) => <ApiToolForm tool={tool} onDone={onDone} />}
      />
      <Parts
        title="MCP servers"
        about="Servers that offer tools by the Model Context Protocol."
        what="MCP server"
        parts={mcp}
        show={({ slug, name, description, url }) => ({
          ...{ id: slug, name },
          about: (
            <>
              {description} <code>{url}</code>
            </>
          ),
        })}
        remove={(id) => mcpServers.delete(id)}
        form={(server, onDone) => <McpServerForm server={server} onDone={onDone} />}
      />
      <Parts
        title="Frontend actions"
        about="Functions that the device of the user runs, such as opening a page of your app."
        what="frontend action"
        parts={actions}
        show={({ triggerFunction, name, description }) => ({
          ...{ id: triggerFunction, name, about: description },
        })}
        remove={(id) => frontendActions.delete(id)}
        form={(action, onDone) => <FrontendActionForm action={action} onDone={onDone} />}
      />
      <Parts
        title="Tools of external agents"
        about="What agents that run elsewhere can use. They carry out tools themselves, and devices carry out actions."
        what="tool"
        parts={tools}
        show={({ name, displayName, type, tool }) => ({
          ...{ id: name, name: displayName },
          about: `${type === 'tool' ? 'Tool' : 'Action'}. ${tool.description}`,
        })}
        remove={(id) => agentTools.delete(id)}
        form={(tool, onDone) => <ToolForm tool={tool} onDone={onDone} />}
      />
    </div>
  )
}
