import type { DocumentOptions } from './platform/http/openapi.ts'

const license = { name: 'Apache-2.0', identifier: 'Apache-2.0' }
const host = { default: 'example.com', description: 'The host of the service.' }

/** What the OpenAPI documents say beside the operations. */
export const documents: DocumentOptions[] = [
  {
    decorator: 'swagger',
    prefix: '/v3',
    stripped: false,
    openapi: {
      info: {
        title: 'Loquat',
        version: '3',
        description: 'The REST interface of the chat platform, for server applications.',
        license,
      },
      servers: [
        {
          url: 'https://{appId}.api-{region}.{host}',
          variables: {
            appId: { default: 'app', description: 'The id of the app.' },
            region: { default: 'us', enum: ['us', 'eu', 'in'] },
            host,
          },
        },
      ],
      components: {
        securitySchemes: {
          apikey: { type: 'apiKey', in: 'header', name: 'apikey' },
          authToken: { type: 'apiKey', in: 'header', name: 'authToken' },
        },
      },
    },
  },
  {
    decorator: 'managementDocument',
    prefix: '/manage',
    stripped: true,
    openapi: {
      info: {
        title: 'Loquat management',
        version: '3',
        description:
          'The management interface, for operators and their programs. The data of an app stands below `/apps/{appId}/v3/…`, with the operations of the REST interface: they answer as described there.',
        license,
      },
      servers: [{ url: 'https://manage.{host}', variables: { host } }],
      components: {
        securitySchemes: {
          session: { type: 'apiKey', in: 'cookie', name: '__Host-loquat_session' },
          key: { type: 'apiKey', in: 'header', name: 'key' },
          secret: { type: 'apiKey', in: 'header', name: 'secret' },
        },
      },
    },
  },
]
