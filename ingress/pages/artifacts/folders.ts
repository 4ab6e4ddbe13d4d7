import type { Artifact } from "../../../shared/artifacts/store.ts";

export interface Folder {
  /** From the folder around it: `log`, or `log/unit` where nothing else is in `log`. */
  name: string;
  folders: Folder[];
  files: { name: string; artifact: Artifact }[];
}

/** A file that is deeper has the rest of its path as its name: a path may have thousands of folders. */
const maxDepth = 8;

/** Makes folders of paths with / or \, in the order of the artifacts. */
export function foldersOf(artifacts: Artifact[]): Folder {
  const root = new Branch();
  for (const artifact of artifacts) {
    const [names, name] = split(artifact.path);
    let branch = root;
    for (const each of names) branch = branch.enter(each);
    branch.files.push({ name, artifact });
  }
  return root.toFolder("");
}

function split(path: string): [folders: string[], name: string] {
  const names = path.split(/[\\/]+/).filter((name) => name !== "");
  const name = names.slice(Math.min(names.length - 1, maxDepth)).join("/");
  return [names.slice(0, -1).slice(0, maxDepth), name || path];
}

class Branch {
  readonly branches = new Map<string, Branch>();
  readonly files: Folder["files"] = [];

  enter(name: string): Branch {
    const found = this.branches.get(name) ?? new Branch();
    this.branches.set(name, found);
    return found;
  }

  /** A folder with nothing but one folder is one line with it. */
  toFolder(name: string): Folder {
    const [only] = this.branches;
    if (name !== "" && only && this.branches.size === 1 && this.files.length === 0)
      return only[1].toFolder(`${name}/${only[0]}`);
    const folders = [...this.branches].map(([each, branch]) => branch.toFolder(each));
    return { name, folders, files: this.files };
  }
}
