type GraphqlType = "Organization" | "User" | "Cluster" | "ClusterQueue" | "Pipeline" | "Build" | "Job";

/** The id under which clients of a GraphQL API would know the resource: base64 of `Type---uuid`. */
export function graphqlId(type: GraphqlType, id: string): string {
  return Buffer.from(`${type}---${id}`).toString("base64");
}
