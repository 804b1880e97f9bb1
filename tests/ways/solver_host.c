/* SPDX-License-Identifier: Apache-2.0 */
int solver_run(void);

int main(void)
{
    return solver_run();
}
